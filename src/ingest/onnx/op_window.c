/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's convolutions, pools and resizing. */
#include <math.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

#define REFS(...) ((const mo_onnx_ref[]){ __VA_ARGS__ })

/* A kernel that slides over an image: its sizes along each axis. */
typedef struct window {
    int n;
    int64_t kernel[MO_MAX_RANK], stride[MO_MAX_RANK], dilation[MO_MAX_RANK];
    int64_t begin[MO_MAX_RANK], end[MO_MAX_RANK]; /* pads */
} window;

enum { MAX_SIZE = 1 << 30 };

/* An attribute of n numbers within what a window may have. */
static void read_sizes(mo_onnx_op *op, const char *name, int n, int64_t least,
                       int64_t fallback, int64_t *sizes)
{
    mo_onnx_list list = mo_onnx_attr_ints(op, name);

    for (int d = 0; d < n; d++)
        sizes[d] = list.n == n ? list.at[d] : fallback;
    if (list.n >= 0 && list.n != n)
        mo_onnx_wrong(op->b, "has %d %s for %d axes", list.n, name, n);
    for (int d = 0; d < n; d++)
        if (sizes[d] < least || sizes[d] > MAX_SIZE) {
            mo_onnx_wrong(op->b, "has %s of %lld", name, (long long) sizes[d]);
            sizes[d] = least;
        }
}

static bool has_auto_pad(mo_onnx_op *op, const char *mode)
{
    return strcmp(mo_onnx_attr_text(op, "auto_pad", "NOTSET"), mode) == 0;
}

/* As many outputs as strides fit; the odd element is added at one end. */
static void pad_same(mo_onnx_op *op, const int64_t *image, window *w)
{
    bool upper = has_auto_pad(op, "SAME_UPPER");

    for (int d = 0; d < w->n; d++) {
        int64_t extent = (w->kernel[d] - 1) * w->dilation[d] + 1;
        int64_t steps = (image[d] + w->stride[d] - 1) / w->stride[d];
        int64_t total = (steps - 1) * w->stride[d] + extent - image[d];
        int64_t few = total > 0 ? total / 2 : 0;
        int64_t many = total > 0 ? total - few : 0;

        w->begin[d] = upper ? few : many;
        w->end[d] = upper ? many : few;
    }
}

/* Fills w from the attributes; its kernel is set. */
static void read_window(mo_onnx_op *op, const int64_t *image, window *w)
{
    int64_t pads[2 * MO_MAX_RANK];

    read_sizes(op, "strides", w->n, 1, 1, w->stride);
    read_sizes(op, "dilations", w->n, 1, 1, w->dilation);
    read_sizes(op, "pads", 2 * w->n, 0, 0, pads);
    for (int d = 0; d < w->n; d++) {
        bool valid = has_auto_pad(op, "VALID");

        w->begin[d] = valid ? 0 : pads[d];
        w->end[d] = valid ? 0 : pads[w->n + d];
    }
    if (has_auto_pad(op, "SAME_UPPER") || has_auto_pad(op, "SAME_LOWER"))
        pad_same(op, image, w);
}

static void set_window(mo_onnx_builder *b, const window *w)
{
    mo_onnx_set_ints(b, "strides", w->stride, w->n);
    mo_onnx_set_ints(b, "pads_begin", w->begin, w->n);
    mo_onnx_set_ints(b, "pads_end", w->end, w->n);
    mo_onnx_set_text(b, "auto_pad", "explicit");
}

/* The image's spatial rank; refuses tensors that are none. */
static int spatial_rank(mo_onnx_op *op, const mo_shape *image)
{
    if (image->rank >= 3)
        return image->rank - 2;
    mo_onnx_wrong(op->b, "has an image of %d dimensions", image->rank);
    return 0;
}

/* Weights of a convolution in groups: one more dimension in front. */
static mo_onnx_ref split_groups(mo_onnx_op *op, mo_onnx_ref weights,
                                int64_t groups)
{
    const mo_shape *old = mo_onnx_shape(op->b, weights);
    mo_shape shape = { .rank = 1, .dims = { groups } };

    if (groups < 1 || old->dims[0] % groups != 0 || old->rank == MO_MAX_RANK)
        return mo_onnx_wrong(op->b, "has %lld groups of %lld channels",
                             (long long) groups, (long long) old->dims[0]);
    mo_dims_push(&shape, old->dims[0] / groups);
    for (int d = 1; d < old->rank; d++)
        mo_dims_push(&shape, old->dims[d]);
    return mo_onnx_reshape(op->b, weights, &shape);
}

static mo_onnx_ref add_bias(mo_onnx_op *op, mo_onnx_ref y)
{
    if (!mo_onnx_has(op, 2) || !mo_onnx_is(y))
        return y;
    return mo_onnx_binary(op->b, "Add", y,
                          mo_onnx_channels(op->b, mo_onnx_in(op, 2),
                                           mo_onnx_shape(op->b, y)->rank),
                          NULL);
}

/* The window of a convolution: its kernel is that of the weights. */
static bool convolution_window(mo_onnx_op *op, int weights, window *w)
{
    const mo_shape *image = mo_onnx_shape(op->b, mo_onnx_in(op, 0));
    const mo_shape *kernel = mo_onnx_shape(op->b, mo_onnx_in(op, weights));

    w->n = spatial_rank(op, image);
    if (mo_onnx_builder_status(op->b) == MO_OK && kernel->rank != image->rank)
        mo_onnx_wrong(op->b, "has weights of %d dimensions for %d",
                      kernel->rank, image->rank);
    if (mo_onnx_builder_status(op->b) != MO_OK)
        return false;
    for (int d = 0; d < w->n; d++)
        w->kernel[d] = kernel->dims[2 + d];
    read_window(op, image->dims + 2, w);
    return mo_onnx_builder_status(op->b) == MO_OK;
}

void mo_onnx_op_conv(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref weights = mo_onnx_in(op, 1);
    int64_t groups = mo_onnx_attr_int(op, "group", 1);
    window w = { .n = 0 };

    if (!convolution_window(op, 1, &w))
        return;
    if (groups != 1)
        weights = split_groups(op, weights, groups);
    set_window(b, &w);
    mo_onnx_set_ints(b, "dilations", w.dilation, w.n);
    mo_onnx_out(op,
                add_bias(op, mo_onnx_binary(b,
                                            groups == 1 ? "Convolution"
                                                        : "GroupConvolution",
                                            mo_onnx_in(op, 0), weights, NULL)));
}

/* ConvInteger and QLinearConv: integers with zero points, and scales. */
void mo_onnx_op_quantized_conv(mo_onnx_op *op)
{
    bool is_whole = strcmp(op->argument, "QLinearConv") == 0;
    window w = { .n = 0 };

    if (!convolution_window(op, is_whole ? 3 : 1, &w))
        return;
    set_window(op->b, &w);
    mo_onnx_set_ints(op->b, "dilations", w.dilation, w.n);
    mo_onnx_set_int(op->b, "group", mo_onnx_attr_int(op, "group", 1));
    mo_onnx_add_native(op, is_whole ? mo_onnx_dtype(op->b, mo_onnx_in(op, 7))
                                    : "i32");
}

/* Pads that give the output the wanted size. */
static void fit_output(mo_onnx_op *op, const int64_t *image,
                       const int64_t *extra, window *w)
{
    mo_onnx_list sizes = mo_onnx_attr_ints(op, "output_shape");
    bool same =
        has_auto_pad(op, "SAME_UPPER") || has_auto_pad(op, "SAME_LOWER");
    bool upper = has_auto_pad(op, "SAME_UPPER");

    if (sizes.n < 0 && !same)
        return;
    for (int d = 0; d < w->n; d++) {
        int64_t size = sizes.n == w->n       ? sizes.at[d]
                       : sizes.n == w->n + 2 ? sizes.at[d + 2]
                                             : image[d] * w->stride[d];
        int64_t total = w->stride[d] * (image[d] - 1) + extra[d] +
                        (w->kernel[d] - 1) * w->dilation[d] + 1 - size;

        if (total < 0 || size < 1) {
            mo_onnx_refuse(op->b, "has an output larger than its windows");
            return;
        }
        w->begin[d] = upper ? total / 2 : total - total / 2;
        w->end[d] = total - w->begin[d];
    }
}

void mo_onnx_op_conv_transpose(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref weights = mo_onnx_in(op, 1);
    int64_t groups = mo_onnx_attr_int(op, "group", 1);
    int64_t extra[MO_MAX_RANK];
    window w = { .n = 0 };

    if (!convolution_window(op, 1, &w))
        return;
    read_sizes(op, "output_padding", w.n, 0, 0, extra);
    fit_output(op, mo_onnx_shape(b, mo_onnx_in(op, 0))->dims + 2, extra, &w);
    if (groups != 1)
        weights = split_groups(op, weights, groups);
    set_window(b, &w);
    mo_onnx_set_ints(b, "dilations", w.dilation, w.n);
    mo_onnx_set_ints(b, "output_padding", extra, w.n);
    mo_onnx_out(
        op, add_bias(op, mo_onnx_binary(b,
                                        groups == 1
                                            ? "ConvolutionBackpropData"
                                            : "GroupConvolutionBackpropData",
                                        mo_onnx_in(op, 0), weights, NULL)));
}

/* ----------------------------------------------------------------- pools -- */

static bool pool_window(mo_onnx_op *op, window *w)
{
    const mo_shape *image = mo_onnx_shape(op->b, mo_onnx_in(op, 0));

    w->n = spatial_rank(op, image);
    if (mo_onnx_builder_status(op->b) != MO_OK)
        return false;
    read_sizes(op, "kernel_shape", w->n, 1, 1, w->kernel);
    read_window(op, image->dims + 2, w);
    return mo_onnx_builder_status(op->b) == MO_OK;
}

static void set_pool(mo_onnx_op *op, const window *w)
{
    mo_onnx_set_ints(op->b, "kernel", w->kernel, w->n);
    mo_onnx_set_text(op->b, "rounding_type",
                     mo_onnx_attr_int(op, "ceil_mode", 0) ? "ceil_torch"
                                                          : "floor");
    set_window(op->b, w);
}

/* ONNX counts over the whole tensor, OpenVINO within a plane. */
static mo_onnx_ref whole_indices(mo_onnx_op *op, mo_onnx_ref indices)
{
    mo_onnx_builder *b = op->b;
    const mo_shape *shape = mo_onnx_shape(b, mo_onnx_in(op, 0));
    mo_shape planes = { .rank = shape->rank,
                        .dims = { shape->dims[0], shape->dims[1] } };
    int64_t plane = 1;
    mo_onnx_ref begins;

    for (int d = 2; d < shape->rank; d++) {
        plane *= shape->dims[d];
        planes.dims[d] = 1;
    }
    mo_onnx_set_text(b, "output_type", "i64");
    begins = mo_onnx_add(
        b, "Range",
        REFS(mo_onnx_int(b, 0),
             mo_onnx_int(b, plane * shape->dims[0] * shape->dims[1]),
             mo_onnx_int(b, plane)),
        3, "i64");
    return mo_onnx_binary(b, "Add", indices,
                          mo_onnx_reshape(b, begins, &planes), NULL);
}

void mo_onnx_op_max_pool(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    window w = { .n = 0 };
    mo_onnx_ref y;

    if (!pool_window(op, &w))
        return;
    if (mo_onnx_uses(op, 1) && mo_onnx_attr_int(op, "storage_order", 0)) {
        mo_onnx_refuse(b, "counts its indices by columns");
        return;
    }
    set_pool(op, &w);
    mo_onnx_set_ints(b, "dilations", w.dilation, w.n);
    mo_onnx_set_text(b, "index_element_type", "i64");
    mo_onnx_set_int(b, "axis", 2);
    y = mo_onnx_add_outputs(b, "MaxPool", op->inputs, 1, 2, NULL, "i64");
    mo_onnx_out(op, y);
    if (mo_onnx_uses(op, 1) && mo_onnx_is(y))
        op->outputs[1] = whole_indices(op, (mo_onnx_ref){ y.layer, 1 });
}

void mo_onnx_op_average_pool(mo_onnx_op *op)
{
    window w = { .n = 0 };

    if (!pool_window(op, &w))
        return;
    for (int d = 0; d < w.n; d++)
        if (w.dilation[d] != 1)
            mo_onnx_refuse(op->b, "has dilations, which averages cannot have "
                                  "here");
    set_pool(op, &w);
    mo_onnx_set_bool(op->b, "exclude-pad",
                     !mo_onnx_attr_int(op, "count_include_pad", 0));
    mo_onnx_out(op, mo_onnx_add(op->b, "AvgPool", op->inputs, 1, NULL));
}

void mo_onnx_op_global_pool(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const char *type = op->argument;
    bool marks[MO_MAX_RANK] = { false };
    int64_t p = mo_onnx_attr_int(op, "p", 2);

    if (strcmp(type, "ReduceL") == 0)
        type = p == 1 ? "ReduceL1" : "ReduceL2";
    if (type != op->argument && p != 1 && p != 2)
        mo_onnx_refuse(op->b, "has a norm of order %lld", (long long) p);
    for (int d = 2; d < mo_onnx_shape(op->b, x)->rank; d++)
        marks[d] = true;
    mo_onnx_out(op, mo_onnx_reduce(op->b, type, x, marks, true));
}

/* -------------------------------------------------------------- resizing -- */

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
            r->size[axis] =
                (int64_t) floor((double) shape->dims[axis] * numbers[k]);
        }
    }
}

/* Refuses what OpenVINO defines differently. */
static void check_resizing(mo_onnx_op *op, const mo_shape *shape,
                           const resizing *r, const char *coordinates)
{
    mo_onnx_builder *b = op->b;
    const char *policy =
        mo_onnx_attr_text(op, "keep_aspect_ratio_policy", "stretch");

    if (strcmp(coordinates, "half_pixel") != 0 &&
        strcmp(coordinates, "pytorch_half_pixel") != 0 &&
        strcmp(coordinates, "asymmetric") != 0 &&
        strcmp(coordinates, "align_corners") != 0)
        mo_onnx_refuse(b, "has coordinates %.40s", coordinates);
    if (strcmp(policy, "stretch") != 0)
        mo_onnx_refuse(b, "keeps the aspect ratio");
    if (mo_onnx_attr_int(op, "exclude_outside", 0))
        mo_onnx_refuse(b, "excludes what is outside");
    for (int d = 0; d < shape->rank; d++) {
        if (mo_onnx_attr_int(op, "antialias", 0) && r->size[d] < shape->dims[d])
            mo_onnx_refuse(b, "shrinks with antialias");
        if (strcmp(coordinates, "align_corners") == 0 && r->by_scales &&
            (double) r->size[d] != (double) shape->dims[d] * r->scale[d])
            mo_onnx_refuse(b, "aligns corners at sizes that are no whole "
                              "numbers");
    }
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
    int64_t axes[MO_MAX_RANK], new_sizes[MO_MAX_RANK];
    double scales[MO_MAX_RANK];
    int n = 0;

    read_targets(op, &shape, &r);
    check_resizing(op, &shape, &r, coordinates);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
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
    mo_onnx_set_real(b, "cube_coeff",
                     mo_onnx_attr_real(op, "cubic_coeff_a", -0.75));
    mo_onnx_set_bool(b, "antialias", false);
    mo_onnx_out(op, mo_onnx_add_shaped(b, "Interpolate", REFS(x, target, list),
                                       3, &sizes, NULL));
}
