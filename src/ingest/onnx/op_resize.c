/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's Resize and Upsample: interpolation as OpenVINO has it,
 * or products with a matrix of weights along each axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

enum { MAX_SIZE = 1 << 30 };

/* Sizes and scales of all axes; one of the two is given, perhaps for some axes
 * only. */
typedef struct resizing {
    int64_t size[MO_MAX_RANK];
    double scale[MO_MAX_RANK];
    bool by_scales;
} resizing;

/* Reads n numbers of input i; false when there are none. */
static bool read_numbers(mo_onnx_op *op, int i, const char *what, int n,
                         double *numbers)
{
    const mo_infer_value *value = mo_onnx_known(op->b, mo_onnx_in(op, i));

    if (!mo_onnx_has(op, i) ||
        mo_shape_elements(mo_onnx_shape(op->b, mo_onnx_in(op, i))) == 0)
        return false;
    if (!value || value->count != n) {
        mo_onnx_refuse(op->b,
                       "its %s are not known before it runs, or not as "
                       "many as axes",
                       what);
        return false;
    }
    for (int k = 0; k < n; k++)
        numbers[k] =
            value->real ? value->items[k].r : (double) value->items[k].i;
    return true;
}

/* floor(size * scale + rounding); refuses what no axis has. */
static int64_t scaled_size(mo_onnx_op *op, int64_t size, double scale,
                           double rounding)
{
    double wide = floor((double) size * scale + rounding);

    if (wide >= 0 && wide < MAX_SIZE)
        return (int64_t) wide;
    mo_onnx_wrong(op->b, "has a scale or size out of range");
    return size;
}

/* One scale for all axes: the smallest or largest that the sizes ask for. */
static void keep_aspect_ratio(mo_onnx_op *op, const mo_shape *shape,
                              const mo_onnx_list *axes, resizing *r)
{
    const char *policy =
        mo_onnx_attr_text(op, "keep_aspect_ratio_policy", "stretch");
    bool smaller = strcmp(policy, "not_larger") == 0;
    double scale = -1;

    if (strcmp(policy, "stretch") == 0)
        return;
    if (!smaller && strcmp(policy, "not_smaller") != 0)
        mo_onnx_wrong(op->b, "keeps the aspect ratio by '%.20s'", policy);
    for (int k = 0; k < axes->n; k++) {
        int d = mo_onnx_axis(op->b, axes->at[k], shape->rank);
        double each = (double) r->size[d] / (double) shape->dims[d];

        if (scale < 0 || (smaller ? each < scale : each > scale))
            scale = each;
    }
    for (int k = 0; k < axes->n && scale >= 0; k++) {
        int d = mo_onnx_axis(op->b, axes->at[k], shape->rank);

        r->scale[d] = scale;
        r->size[d] = scaled_size(op, shape->dims[d], scale, 0.5);
    }
    r->by_scales = true;
}

static void read_targets(mo_onnx_op *op, const mo_shape *shape, resizing *r)
{
    bool is_upsample = op->argument[0] != '\0', old = op->version < 11;
    mo_onnx_list axes = mo_onnx_attr_ints(op, "axes");
    const mo_onnx_attribute *scales = mo_onnx_attr(op, "scales");
    double numbers[MO_ONNX_MAX_LIST] = { 0 };
    bool by_sizes = false;

    if (axes.n < 0) {
        axes.n = shape->rank;
        for (int d = 0; d < shape->rank; d++)
            axes.at[d] = d;
    }
    for (int d = 0; d < shape->rank; d++) {
        r->size[d] = shape->dims[d];
        r->scale[d] = 1;
    }
    if (axes.n > shape->rank) {
        mo_onnx_wrong(op->b, "has more axes than dimensions");
        return;
    }
    if (is_upsample && op->version < 9) {
        for (int k = 0; scales && k < axes.n; k++)
            numbers[k] = (size_t) k < scales->n_floats ? scales->floats[k] : 1;
        r->by_scales = scales != NULL;
    } else {
        r->by_scales = read_numbers(op, is_upsample || old ? 1 : 2, "scales",
                                    axes.n, numbers);
        if (!r->by_scales && !is_upsample && !old)
            by_sizes = read_numbers(op, 3, "sizes", axes.n, numbers);
    }
    if (!r->by_scales && !by_sizes)
        mo_onnx_wrong(op->b, "has neither scales nor sizes");
    for (int k = 0; k < axes.n; k++) {
        int axis = mo_onnx_axis(op->b, axes.at[k], shape->rank);

        if (!(numbers[k] >= 0 && numbers[k] < MAX_SIZE)) {
            mo_onnx_wrong(op->b, "has a scale or size out of range");
            return;
        }
        if (by_sizes)
            r->size[axis] = (int64_t) numbers[k];
        else {
            r->scale[axis] = numbers[k];
            r->size[axis] = scaled_size(op, shape->dims[axis], numbers[k], 0);
        }
    }
    if (by_sizes && mo_onnx_builder_status(op->b) == MO_OK)
        keep_aspect_ratio(op, shape, &axes, r);
}

/* What OpenVINO's interpolation does not have: the weights of every element of
 * the result are a row of a matrix for each axis. */
typedef struct form {
    const char *coordinates, *mode, *nearest;
    bool antialias, exclude_outside;
    double cubic, extrapolation;
    double roi[2 * MO_MAX_RANK]; /* starts, then ends, by axis */
} form;

static bool needs_weights(const form *f, const mo_shape *shape,
                          const resizing *r)
{
    if (strcmp(f->coordinates, "tf_crop_and_resize") == 0 ||
        strcmp(f->coordinates, "half_pixel_symmetric") == 0 ||
        (f->exclude_outside && strcmp(f->mode, "nearest") != 0))
        return true;
    for (int d = 0; d < shape->rank; d++) {
        double wide = (double) shape->dims[d] * r->scale[d];

        if (f->antialias && r->size[d] < shape->dims[d])
            return true;
        /* Sizes of a kept aspect ratio are rounded. */
        if (r->by_scales && r->size[d] != (int64_t) floor(wide))
            return true;
        if (strcmp(f->coordinates, "align_corners") == 0 && r->by_scales &&
            (double) r->size[d] != wide)
            return true;
    }
    return false;
}

/* Coordinate of element x of the result along an axis of size in. */
static double coordinate_of(const form *f, const double roi[2], double x,
                            int64_t in, int64_t out, double scale)
{
    double wide = scale * (double) in, last = (double) in - 1;

    if (strcmp(f->coordinates, "align_corners") == 0)
        return wide == 1 ? 0 : x * last / (wide - 1);
    if (strcmp(f->coordinates, "asymmetric") == 0)
        return x / scale;
    if (strcmp(f->coordinates, "tf_crop_and_resize") == 0)
        return roi[0] * last +
               (roi[1] - roi[0]) * last * (wide == 1 ? 0.5 : x / (wide - 1));
    if (strcmp(f->coordinates, "pytorch_half_pixel") == 0 && wide == 1)
        return -0.5;
    if (strcmp(f->coordinates, "half_pixel_symmetric") == 0)
        return (double) in / 2 * (1 - (double) out / wide) + (x + 0.5) / scale -
               0.5;
    return (x + 0.5) / scale - 0.5;
}

/* The weight of an element at a distance. */
static double kernel_weight(const form *f, double t)
{
    double a = f->cubic;

    t = fabs(t);
    if (f->mode[0] == 'l')
        return t < 1 ? 1 - t : 0;
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

static int64_t clamp_index(double i, int64_t size)
{
    return i < 0 ? 0 : i >= (double) size ? size - 1 : (int64_t) i;
}

static double nearest_index(const form *f, double at)
{
    if (strcmp(f->nearest, "floor") == 0)
        return floor(at);
    if (strcmp(f->nearest, "ceil") == 0)
        return ceil(at);
    return strcmp(f->nearest, "round_prefer_ceil") == 0 ? floor(at + 0.5)
                                                        : ceil(at - 0.5);
}

/* Fills a row of the matrix for coordinate at. */
static void fill_row(const form *f, double at, int64_t in, double scale,
                     double *row)
{
    double narrow = f->antialias && scale < 1 ? scale : 1;
    double reach = (f->mode[0] == 'l' ? 1 : 2) / narrow, sum = 0;
    double low = ceil(at - reach), high = floor(at + reach);

    if (strcmp(f->mode, "nearest") == 0) {
        row[clamp_index(nearest_index(f, at), in)] = 1;
        return;
    }
    for (double i = low; i <= high; i++)
        if (!f->exclude_outside || (i >= 0 && i < (double) in))
            sum += kernel_weight(f, (i - at) * narrow);
    for (double i = low; i <= high; i++)
        if (!f->exclude_outside || (i >= 0 && i < (double) in))
            row[clamp_index(i, in)] +=
                kernel_weight(f, (i - at) * narrow) / (sum != 0 ? sum : 1);
}

/* x times weights [out, in] along an axis; where mask is 0, extrapolated. */
static mo_onnx_ref apply_weights(mo_onnx_op *op, const form *f, mo_onnx_ref x,
                                 int axis, mo_onnx_ref weights,
                                 mo_onnx_ref outside)
{
    mo_onnx_builder *b = op->b;
    int rank = mo_onnx_shape(b, x)->rank;
    int64_t order[MO_MAX_RANK];

    for (int d = 0; d < rank; d++)
        order[d] = d;
    order[axis] = rank - 1;
    order[rank - 1] = axis;
    x = mo_onnx_transpose(b, x, order);
    x = mo_onnx_matmul(b, x, weights, false, true);
    if (mo_onnx_is(outside) && mo_onnx_is(x))
        x = mo_onnx_select(
            b, outside,
            mo_onnx_number(b, f->extrapolation, mo_onnx_dtype(b, x)), x);
    return mo_onnx_is(x) ? mo_onnx_transpose(b, x, order) : x;
}

static mo_onnx_ref resize_axis(mo_onnx_op *op, const form *f, mo_onnx_ref x,
                               int axis, int64_t out, double scale)
{
    mo_onnx_builder *b = op->b;
    int64_t in = mo_onnx_shape(b, x)->dims[axis];
    mo_shape shape = { .rank = 2, .dims = { out, in } };
    mo_shape list = { .rank = 1, .dims = { out } };
    double roi[2] = { f->roi[axis], f->roi[MO_MAX_RANK + axis] };
    bool crops = strcmp(f->coordinates, "tf_crop_and_resize") == 0;
    bool any = false;
    double *rows, *outside;
    mo_onnx_ref weights, mask = MO_ONNX_NONE;

    if (in < 1 || out < 0 || !(scale > 0) || in > MO_INFER_VALUE_MAX_ITEMS ||
        out > MO_INFER_VALUE_MAX_ITEMS || in * out > MO_INFER_VALUE_MAX_ITEMS)
        return mo_onnx_refuse(b,
                              "resizes %lld to %lld in a form that takes a "
                              "matrix of at most %d weights",
                              (long long) in, (long long) out,
                              MO_INFER_VALUE_MAX_ITEMS);
    rows = calloc((size_t) (in * out + out) + 1, sizeof *rows);
    if (!rows)
        return mo_onnx_fail_memory(b);
    outside = rows + in * out;
    for (int64_t i = 0; i < out; i++) {
        double at = coordinate_of(f, roi, (double) i, in, out, scale);

        outside[i] = crops && (at < 0 || at > (double) in - 1);
        any = any || outside[i] != 0;
        fill_row(f, fmax(-1e9, fmin(1e9, at)), in, scale, rows + i * in);
    }
    weights = mo_onnx_numbers(b, rows, &shape, mo_onnx_dtype(b, x));
    if (any)
        mask = mo_onnx_numbers(b, outside, &list, "boolean");
    free(rows);
    return apply_weights(op, f, x, axis, weights, mask);
}

/* Reads the region that tf_crop_and_resize takes, by axis. */
static void read_roi(mo_onnx_op *op, const mo_shape *shape, form *f)
{
    mo_onnx_list axes = mo_onnx_attr_ints(op, "axes");
    double numbers[MO_ONNX_MAX_LIST];
    int n = axes.n < 0 ? shape->rank : axes.n;

    for (int d = 0; d < MO_MAX_RANK; d++)
        f->roi[MO_MAX_RANK + d] = 1;
    if (strcmp(f->coordinates, "tf_crop_and_resize") != 0)
        return;
    if (n > MO_MAX_RANK || !read_numbers(op, 1, "region", 2 * n, numbers)) {
        mo_onnx_refuse(op->b, "has no region that is known before it runs");
        return;
    }
    for (int k = 0; k < n; k++) {
        int axis =
            axes.n < 0 ? k : mo_onnx_axis(op->b, axes.at[k], shape->rank);

        f->roi[axis] = numbers[k];
        f->roi[MO_MAX_RANK + axis] = numbers[n + k];
    }
}

static void resize_by_weights(mo_onnx_op *op, const form *f,
                              const mo_shape *shape, const resizing *r)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);

    if (!mo_onnx_is_real(op->b, x)) {
        mo_onnx_refuse(op->b,
                       "resizes integers in coordinates %.40s, or with "
                       "antialias",
                       f->coordinates);
        return;
    }
    for (int d = 0; d < shape->rank && mo_onnx_is(x); d++)
        if (r->size[d] != shape->dims[d] || f->roi[d] != 0 ||
            f->roi[MO_MAX_RANK + d] != 1)
            x = resize_axis(op, f, x, d, r->size[d],
                            r->by_scales ? r->scale[d]
                                         : (double) r->size[d] /
                                               (double) shape->dims[d]);
    mo_onnx_out(op, x);
}

static void check_coordinates(mo_onnx_op *op, const char *coordinates)
{
    static const char *const known[] = {
        "half_pixel",    "pytorch_half_pixel", "asymmetric",
        "align_corners", "tf_crop_and_resize", "half_pixel_symmetric"
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(coordinates, known[i]) == 0)
            return;
    mo_onnx_refuse(op->b, "has coordinates %.40s", coordinates);
}

static const char *resize_mode(mo_onnx_op *op)
{
    const char *mode = mo_onnx_attr_text(op, "mode", "nearest");

    if (strcmp(mode, "nearest") == 0 || strcmp(mode, "cubic") == 0)
        return mode;
    if (strcmp(mode, "linear") != 0)
        mo_onnx_refuse(op->b, "resizes in mode %.20s", mode);
    return "linear_onnx";
}

/* Opset 10 and Upsample have no attributes for coordinates and rounding. */
void mo_onnx_op_resize(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), target, list;
    mo_shape shape = *mo_onnx_shape(b, x), sizes = { .rank = shape.rank };
    bool old = op->version < 11 || op->argument[0];
    const char *coordinates =
        mo_onnx_attr_text(op, "coordinate_transformation_mode",
                          old ? "asymmetric" : "half_pixel");
    const char *nearest = mo_onnx_attr_text(
        op, "nearest_mode", old ? "simple" : "round_prefer_floor");
    const char *mode = resize_mode(op);
    resizing r = { .by_scales = false };
    form f = { .coordinates = coordinates,
               .mode = mode,
               .nearest = nearest,
               .antialias = mo_onnx_attr_int(op, "antialias", 0) != 0,
               .exclude_outside =
                   mo_onnx_attr_int(op, "exclude_outside", 0) != 0,
               .cubic = mo_onnx_attr_real(op, "cubic_coeff_a", -0.75),
               .extrapolation =
                   mo_onnx_attr_real(op, "extrapolation_value", 0) };
    int64_t axes[MO_MAX_RANK], new_sizes[MO_MAX_RANK];
    double scales[MO_MAX_RANK];
    int n = 0;

    check_coordinates(op, coordinates);
    read_targets(op, &shape, &r);
    read_roi(op, &shape, &f);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (needs_weights(&f, &shape, &r)) {
        resize_by_weights(op, &f, &shape, &r);
        return;
    }
    for (int d = 0; d < shape.rank; d++) {
        sizes.dims[d] = r.size[d];
        if (r.size[d] == shape.dims[d])
            continue;
        new_sizes[n] = r.size[d];
        scales[n] = r.scale[d];
        axes[n++] = d;
    }
    if (n == 0) {
        mo_onnx_out(op, x);
        return;
    }
    list = mo_onnx_ints(b, axes, n);
    target =
        r.by_scales
            ? mo_onnx_numbers(b, scales,
                              &(mo_shape){ .rank = 1, .dims = { n } }, "f32")
            : mo_onnx_ints(b, new_sizes, n);
    mo_onnx_set_text(b, "mode", mode);
    mo_onnx_set_text(b, "shape_calculation_mode",
                     r.by_scales ? "scales" : "sizes");
    mo_onnx_set_text(b, "coordinate_transformation_mode", coordinates);
    mo_onnx_set_text(b, "nearest_mode", nearest);
    mo_onnx_set_real(b, "cube_coeff", f.cubic);
    mo_onnx_set_bool(b, "antialias", false);
    mo_onnx_out(op, mo_onnx_add_shaped(b, "Interpolate",
                                       MO_ONNX_REFS(x, target, list), 3, &sizes,
                                       NULL));
}
