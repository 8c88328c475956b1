/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's Resize and Upsample: interpolation as OpenVINO has it,
 * with attributes for what only ONNX has. */
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
        numbers[k] = mo_infer_value_number(value, k);
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

/* The attributes, and the region that tf_crop_and_resize takes: starts, then
 * ends, by axis. */
typedef struct form {
    const char *coordinates, *mode, *nearest;
    bool antialias, exclude_outside;
    double cubic, extrapolation;
    double roi[2 * MO_MAX_RANK];
} form;

/* Whether axis d is more than copied. */
static bool is_resized(const form *f, const mo_shape *shape, const resizing *r,
                       int d)
{
    return r->size[d] != shape->dims[d] || (r->by_scales && r->scale[d] != 1) ||
           f->roi[d] != 0 || f->roi[MO_MAX_RANK + d] != 1;
}

/* What OpenVINO's interpolation does not have, or has otherwise: it takes the
 * sizes where ONNX takes the scales. */
static bool is_onnx_only(const form *f, const mo_shape *shape,
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
        if (r->by_scales && (double) r->size[d] != wide &&
            (r->size[d] == shape->dims[d] ||
             strcmp(f->coordinates, "align_corners") == 0))
            return true;
    }
    return false;
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

/* Elements of y whose coordinates along axis d lie outside have one value. */
static mo_onnx_ref extrapolate(mo_onnx_op *op, const form *f, mo_onnx_ref y,
                               int d, int64_t in, double scale)
{
    mo_onnx_builder *b = op->b;
    mo_shape list = { .rank = mo_onnx_shape(b, y)->rank };
    int64_t out = mo_onnx_shape(b, y)->dims[d];
    double begin = f->roi[d], length = f->roi[MO_MAX_RANK + d] - begin;
    double wide = scale * (double) in, *outside;
    bool any = false;

    if (out > MO_INFER_VALUE_MAX_ITEMS)
        return mo_onnx_refuse(b, "crops and resizes to more than %d elements",
                              MO_INFER_VALUE_MAX_ITEMS);
    outside = calloc((size_t) out + 1, sizeof *outside);
    if (!outside)
        return mo_onnx_fail_memory(b);
    for (int64_t i = 0; i < out; i++) {
        double at =
            begin + length * (wide == 1 ? 0.5 : (double) i / (wide - 1));

        outside[i] = in > 1 && (at < 0 || at > 1);
        any = any || outside[i] != 0;
    }
    for (int k = 0; k < list.rank; k++)
        list.dims[k] = k == d ? out : 1;
    if (any)
        y = mo_onnx_select(
            b, mo_onnx_numbers(b, outside, &list, "boolean"),
            mo_onnx_number(b, f->extrapolation, mo_onnx_dtype(b, y)), y);
    free(outside);
    return y;
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
static form read_form(mo_onnx_op *op)
{
    bool old = op->version < 11 || op->argument[0];

    return (form){
        .coordinates = mo_onnx_attr_text(op, "coordinate_transformation_mode",
                                         old ? "asymmetric" : "half_pixel"),
        .mode = resize_mode(op),
        .nearest = mo_onnx_attr_text(op, "nearest_mode",
                                     old ? "simple" : "round_prefer_floor"),
        .antialias = mo_onnx_attr_int(op, "antialias", 0) != 0,
        .exclude_outside = mo_onnx_attr_int(op, "exclude_outside", 0) != 0,
        .cubic = mo_onnx_attr_real(op, "cubic_coeff_a", -0.75),
        .extrapolation = mo_onnx_attr_real(op, "extrapolation_value", 0)
    };
}

void mo_onnx_op_resize(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), inputs[4] = { x }, y;
    mo_shape shape = *mo_onnx_shape(b, x), sizes = { .rank = shape.rank };
    resizing r = { .by_scales = false };
    form f = read_form(op);
    int64_t axes[MO_MAX_RANK], new_sizes[MO_MAX_RANK];
    double scales[3 * MO_MAX_RANK]; /* then starts and ends of the region */
    bool crops = strcmp(f.coordinates, "tf_crop_and_resize") == 0, onnx;
    mo_shape list = { .rank = 1 };
    int n = 0;

    check_coordinates(op, f.coordinates);
    read_targets(op, &shape, &r);
    read_roi(op, &shape, &f);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    for (int d = 0; d < shape.rank; d++) {
        sizes.dims[d] = r.size[d];
        if (!r.by_scales)
            r.scale[d] = (double) r.size[d] / (double) shape.dims[d];
        if (is_resized(&f, &shape, &r, d))
            axes[n++] = d;
    }
    if (n == 0) {
        mo_onnx_out(op, x);
        return;
    }
    for (int k = 0; k < n; k++) {
        new_sizes[k] = r.size[axes[k]];
        scales[k] = r.scale[axes[k]];
        scales[n + k] = f.roi[axes[k]];
        scales[2 * n + k] = f.roi[MO_MAX_RANK + axes[k]];
    }
    onnx = is_onnx_only(&f, &shape, &r);
    list.dims[0] = n;
    inputs[1] = !onnx && r.by_scales ? mo_onnx_numbers(b, scales, &list, "f32")
                                     : mo_onnx_ints(b, new_sizes, n);
    inputs[2] = mo_onnx_ints(b, axes, n);
    list.dims[0] = crops ? 3 * n : n;
    if (onnx)
        inputs[3] = mo_onnx_numbers(b, scales, &list, "f64");
    mo_onnx_set_text(b, "mode", f.mode);
    mo_onnx_set_text(b, "shape_calculation_mode",
                     !onnx && r.by_scales ? "scales" : "sizes");
    mo_onnx_set_text(b, "coordinate_transformation_mode", f.coordinates);
    mo_onnx_set_text(b, "nearest_mode", f.nearest);
    mo_onnx_set_real(b, "cube_coeff", f.cubic);
    mo_onnx_set_bool(b, "antialias", f.antialias);
    if (onnx) {
        mo_onnx_set_bool(b, "onnx", true);
        mo_onnx_set_bool(b, "exclude_outside", f.exclude_outside);
    }
    y = mo_onnx_add_shaped(b, "Interpolate", inputs, onnx ? 4 : 3, &sizes,
                           NULL);
    for (int k = 0; crops && k < n && mo_onnx_is(y); k++)
        y = extrapolate(op, &f, y, (int) axes[k], shape.dims[axes[k]],
                        scales[k]);
    mo_onnx_out(op, y);
}
