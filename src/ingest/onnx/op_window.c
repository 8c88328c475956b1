/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's convolutions, pools and resizing. */
#include <math.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"
#include "ingest/onnx/window.h"

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
static void pad_same(mo_onnx_op *op, const int64_t *image, mo_onnx_window *w)
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
void mo_onnx_read_window(mo_onnx_op *op, const int64_t *image,
                         mo_onnx_window *w)
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

void mo_onnx_set_window(mo_onnx_builder *b, const mo_onnx_window *w)
{
    mo_onnx_set_ints(b, "dilations", w->dilation, w->n);
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

static mo_onnx_ref add_bias(mo_onnx_builder *b, mo_onnx_ref y, mo_onnx_ref bias)
{
    if (!mo_onnx_is(bias) || !mo_onnx_is(y))
        return y;
    return mo_onnx_binary(b, "Add", y,
                          mo_onnx_channels(b, bias, mo_onnx_shape(b, y)->rank),
                          NULL);
}

/* The window of a convolution: its kernel is that of the weights. */
bool mo_onnx_read_conv_window(mo_onnx_op *op, int weights, mo_onnx_window *w)
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
    mo_onnx_read_window(op, image->dims + 2, w);
    return mo_onnx_builder_status(op->b) == MO_OK;
}

mo_onnx_ref mo_onnx_convolve(mo_onnx_op *op, mo_onnx_ref x, mo_onnx_ref weights,
                             const mo_onnx_window *w, int64_t groups,
                             mo_onnx_ref bias)
{
    if (groups != 1)
        weights = split_groups(op, weights, groups);
    mo_onnx_set_window(op->b, w);
    return add_bias(
        op->b,
        mo_onnx_binary(op->b, groups == 1 ? "Convolution" : "GroupConvolution",
                       x, weights, NULL),
        bias);
}

void mo_onnx_op_conv(mo_onnx_op *op)
{
    mo_onnx_window w = { .n = 0 };

    if (mo_onnx_read_conv_window(op, 1, &w))
        mo_onnx_out(op,
                    mo_onnx_convolve(op, mo_onnx_in(op, 0), mo_onnx_in(op, 1),
                                     &w, mo_onnx_attr_int(op, "group", 1),
                                     mo_onnx_in(op, 2)));
}

/* ConvInteger and QLinearConv: integers with zero points, and scales. */
void mo_onnx_op_quantized_conv(mo_onnx_op *op)
{
    bool is_whole = strcmp(op->argument, "QLinearConv") == 0;
    mo_onnx_window w = { .n = 0 };

    if (!mo_onnx_read_conv_window(op, is_whole ? 3 : 1, &w))
        return;
    mo_onnx_set_window(op->b, &w);
    mo_onnx_set_int(op->b, "group", mo_onnx_attr_int(op, "group", 1));
    mo_onnx_add_native(op, is_whole ? mo_onnx_dtype(op->b, mo_onnx_in(op, 7))
                                    : "i32");
}

/* Pads that give the output the wanted size. */
static void fit_output(mo_onnx_op *op, const int64_t *image,
                       const int64_t *extra, mo_onnx_window *w)
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
    mo_onnx_window w = { .n = 0 };

    if (!mo_onnx_read_conv_window(op, 1, &w))
        return;
    read_sizes(op, "output_padding", w.n, 0, 0, extra);
    fit_output(op, mo_onnx_shape(b, mo_onnx_in(op, 0))->dims + 2, extra, &w);
    if (groups != 1)
        weights = split_groups(op, weights, groups);
    mo_onnx_set_window(b, &w);
    mo_onnx_set_ints(b, "output_padding", extra, w.n);
    mo_onnx_out(op,
                add_bias(b,
                         mo_onnx_binary(b,
                                        groups == 1 ? "ConvolutionBackpropData"
                                                    : "GroupConvolutionBackprop"
                                                      "Data",
                                        mo_onnx_in(op, 0), weights, NULL),
                         mo_onnx_in(op, 2)));
}

bool mo_onnx_read_pool_window(mo_onnx_op *op, mo_onnx_window *w)
{
    const mo_shape *image = mo_onnx_shape(op->b, mo_onnx_in(op, 0));

    w->n = spatial_rank(op, image);
    if (mo_onnx_builder_status(op->b) != MO_OK)
        return false;
    read_sizes(op, "kernel_shape", w->n, 1, 1, w->kernel);
    mo_onnx_read_window(op, image->dims + 2, w);
    return mo_onnx_builder_status(op->b) == MO_OK;
}

static void set_pool(mo_onnx_op *op, const mo_onnx_window *w)
{
    mo_onnx_set_ints(op->b, "kernel", w->kernel, w->n);
    mo_onnx_set_text(op->b, "rounding_type",
                     mo_onnx_attr_int(op, "ceil_mode", 0) ? "ceil_torch"
                                                          : "floor");
    mo_onnx_set_window(op->b, w);
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
        MO_ONNX_REFS(mo_onnx_int(b, 0),
                     mo_onnx_int(b, plane * shape->dims[0] * shape->dims[1]),
                     mo_onnx_int(b, plane)),
        3, "i64");
    return mo_onnx_binary(b, "Add", indices,
                          mo_onnx_reshape(b, begins, &planes), NULL);
}

void mo_onnx_op_max_pool(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_window w = { .n = 0 };
    mo_onnx_ref x = mo_onnx_in(op, 0), y;
    const char *dtype = mo_onnx_dtype(b, x);

    if (!mo_onnx_read_pool_window(op, &w))
        return;
    /* Bytes, as in quantized networks: floats have them all. */
    if (!mo_onnx_is_real(b, x))
        x = mo_onnx_convert(b, x, "f32");
    if (mo_onnx_uses(op, 1) && mo_onnx_attr_int(op, "storage_order", 0)) {
        mo_onnx_refuse(b, "counts its indices by columns");
        return;
    }
    set_pool(op, &w);
    mo_onnx_set_text(b, "index_element_type", "i64");
    mo_onnx_set_int(b, "axis", 2);
    y = mo_onnx_add_outputs(b, "MaxPool", &x, 1, 2, NULL, "i64");
    mo_onnx_out(op, mo_onnx_convert(b, y, dtype));
    if (mo_onnx_uses(op, 1) && mo_onnx_is(y))
        op->outputs[1] = whole_indices(op, (mo_onnx_ref){ y.layer, 1 });
}

void mo_onnx_op_average_pool(mo_onnx_op *op)
{
    mo_onnx_window w = { .n = 0 };

    if (!mo_onnx_read_pool_window(op, &w))
        return;
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

/* The p-norm of windows: from the average of powers, padded with zeros. */
void mo_onnx_op_lp_pool(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_widen(b, mo_onnx_in(op, 0));
    int64_t p = mo_onnx_attr_int(op, "p", 2);
    int64_t begin[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 }, count = 1;
    mo_onnx_window w = { .n = 0 };
    const int64_t *image;

    if (!mo_onnx_read_pool_window(op, &w))
        return;
    if (p < 1) {
        mo_onnx_refuse(b, "has a norm of order %lld", (long long) p);
        return;
    }
    /* Pads in front of a last window that begins within the data or the first
     * pads (ceil_mode) are explicit. */
    image = mo_onnx_shape(b, x)->dims + 2;
    for (int d = 0; d < w.n; d++) {
        int64_t span = (w.kernel[d] - 1) * w.dilation[d] + 1;
        int64_t room = image[d] + w.begin[d] + w.end[d] - span;
        int64_t steps = room / w.stride[d];

        if (mo_onnx_attr_int(op, "ceil_mode", 0) && room % w.stride[d] != 0 &&
            (steps + 1) * w.stride[d] < image[d] + w.begin[d])
            w.end[d] += (steps + 1) * w.stride[d] - room;
    }
    for (int d = 0; d < w.n; d++) {
        begin[2 + d] = w.begin[d];
        end[2 + d] = w.end[d];
        w.begin[d] = w.end[d] = 0;
        count *= w.kernel[d];
    }
    x = mo_onnx_unary(b, "Abs", x, NULL);
    x = mo_onnx_with_number(b, "Power", x, (double) p);
    x = mo_onnx_add_pad(b, x, begin, end);
    mo_onnx_set_ints(b, "kernel", w.kernel, w.n);
    mo_onnx_set_text(b, "rounding_type", "floor");
    mo_onnx_set_bool(b, "exclude-pad", false);
    mo_onnx_set_window(b, &w);
    x = mo_onnx_add(b, "AvgPool", &x, 1, NULL);
    x = mo_onnx_with_number(b, "Multiply", x, (double) count);
    x = mo_onnx_with_number(b, "Power", x, 1 / (double) p);
    mo_onnx_out(op, mo_onnx_convert(b, x, mo_onnx_dtype(b, mo_onnx_in(op, 0))));
}

void mo_onnx_op_lrn(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref axes = mo_onnx_ints(b, (const int64_t[]){ 1 }, 1);

    if (mo_onnx_attr_int(op, "size", 1) % 2 == 0) {
        mo_onnx_refuse(b, "has a window of even size");
        return;
    }
    mo_onnx_set_real(b, "alpha", mo_onnx_attr_real(op, "alpha", 1e-4f));
    mo_onnx_set_real(b, "beta", mo_onnx_attr_real(op, "beta", 0.75));
    mo_onnx_set_real(b, "bias", mo_onnx_attr_real(op, "bias", 1));
    mo_onnx_set_int(b, "size", mo_onnx_attr_int(op, "size", 1));
    mo_onnx_out(op, mo_onnx_binary(b, "LRN", mo_onnx_in(op, 0), axes, NULL));
}
