/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of products of quantized integers: MatMulInteger, QLinearMatMul,
 * ConvInteger and QLinearConv of ONNX.
 *
 * Sums are exact: operands minus their zero points are multiplied as doubles,
 * whose 53 bits hold every sum that 32 bits do, whatever precision the rest of
 * the network runs in.  A convolution is a product with the columns of its
 * windows (im2col).  Requantization rounds as ONNX Runtime does: scales are
 * multiplied and divided as f32, the sum is rounded to f32.
 */
#include <string.h>

#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"

/* Inputs by role; -1: there is none. */
typedef struct quantized {
    int a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias;
} quantized;

static const quantized integers = { 0, -1, 2, 1, -1, 3, -1, -1, -1 };
static const quantized linear = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

static mo_status check_inputs(const mo_op_site *site, const quantized *q,
                              mo_error *err)
{
    int most = q == &linear ? 9 : 4, least = q == &linear ? 8 : 2;
    mo_status status = mo_op_site_check_arity(site, least, most, 1, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < site->n_in; i++) {
        bool real = i == q->a_scale || i == q->b_scale || i == q->y_scale;

        if (mo_elem_is_float(site->in[i].elem) != real ||
            (real && !mo_lower_quantize_has(site, i)))
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its input %d is not %s", i,
                                   real ? "a scale" : "of integers");
    }
    if (q == &integers && site->out[0].elem != MO_ELEM_I32)
        return mo_op_site_fail(site, MO_E_INPUT, err, "makes i32 only");
    return MO_OK;
}

/* Adds a temporary: input minus its zero point, as doubles. */
static mo_status add_centered(const mo_op_site *site, int input, int zero,
                              int axis, int *temp, mo_lower_result *lowered,
                              mo_error *err)
{
    mo_tensor_desc desc = { MO_ELEM_F64, site->in[input].shape };
    mo_point_builder builder;
    int x, from;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, temp, err);

    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, *temp, &desc);
    x = mo_point_builder_operand(&builder, input, &site->in[input]);
    from = mo_lower_quantize_operand(&builder, zero, axis);
    if (from >= 0)
        x = mo_point_builder_binary(&builder, MO_POINT_I_SUBTRACT, x, from);
    mo_point_builder_store(&builder, mo_point_builder_to_real(&builder, x));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_status add_sums(const mo_op_site *site, int *sums,
                          mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { MO_ELEM_F64, site->out[0].shape };

    return mo_lower_add_temp(lowered, site, &desc, sums, err);
}

/* Sums, plus the bias, to the result: i32, or requantized.  Scales of a are by
 * a_axis of the result, those of b and the bias by b_axis. */
static mo_status finish_sums(const mo_op_site *site, const quantized *q,
                             int sums, int a_axis, int b_axis,
                             mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { MO_ELEM_F64, site->out[0].shape };
    mo_point_builder builder = mo_point_builder_init(site);
    mo_point_builder *b = &builder;
    int sum = mo_point_builder_operand(b, sums, &desc), scale;
    int bias = mo_lower_quantize_operand(b, q->bias, b_axis);
    int a_scale = mo_lower_quantize_operand(b, q->a_scale, a_axis);
    int b_scale = mo_lower_quantize_operand(b, q->b_scale, b_axis);
    int y_scale = mo_lower_quantize_operand(b, q->y_scale, -1);
    int zero = mo_lower_quantize_operand(b, q->y_zero, -1);

    if (bias >= 0)
        sum = mo_point_builder_binary(b, MO_POINT_ADD, sum,
                                      mo_point_builder_to_real(b, bias));
    if (q == &integers) {
        mo_point_builder_store(
            b, mo_point_builder_unary(b, MO_POINT_TRUNCATE, sum));
        return mo_point_builder_finish_call(b, lowered, err);
    }
    scale = mo_point_builder_binary(b, MO_POINT_MULTIPLY, a_scale, b_scale);
    scale = mo_lower_quantize_round_f32(b, scale);
    scale = mo_point_builder_binary(b, MO_POINT_DIVIDE, scale, y_scale);
    scale = mo_lower_quantize_round_f32(b, scale);
    sum = mo_lower_quantize_round_f32(b, sum);
    sum = mo_point_builder_binary(b, MO_POINT_MULTIPLY, sum, scale);
    sum = mo_lower_quantize_round_f32(b, sum);
    mo_point_builder_store(
        b, mo_lower_quantize_saturate(b, sum, zero, site->out[0].elem));
    return mo_point_builder_finish_call(b, lowered, err);
}

static mo_status lower_matrices(const mo_op_site *site, const quantized *q,
                                mo_lower_result *lowered, mo_error *err)
{
    int a = 0, b = 0, sums = 0, rank = site->out[0].shape.rank;
    mo_status status = check_inputs(site, q, err);

    if (status == MO_OK)
        status = add_centered(site, q->a, q->a_zero,
                              site->in[q->a].shape.rank - 2, &a, lowered, err);
    if (status == MO_OK)
        status = add_centered(site, q->b, q->b_zero,
                              site->in[q->b].shape.rank - 1, &b, lowered, err);
    if (status == MO_OK)
        status = add_sums(site, &sums, lowered, err);
    if (status == MO_OK) {
        /* The product as MatMul has it, of other tensors than the site's. */
        mo_tensor_desc in[2] = { { MO_ELEM_F64, site->in[q->a].shape },
                                 { MO_ELEM_F64, site->in[q->b].shape } };
        mo_tensor_desc out = { MO_ELEM_F64, site->out[0].shape };
        mo_op_site product = { .name = site->name,
                               .type = site->type,
                               .n_in = 2,
                               .n_out = 1,
                               .in = in,
                               .out = &out };
        status = mo_lower_matmul(&product, lowered, err);
        mo_call *call;

        if (status == MO_OK) {
            call = &lowered->calls[lowered->n_calls - 1];
            call->in[0] = call->in[0] == 0 ? a : b;
            call->in[1] = call->in[1] == 0 ? a : b;
            call->out[0] = sums;
        }
    }
    if (status == MO_OK)
        status = finish_sums(site, q, sums, rank - 2, rank - 1, lowered, err);
    return status;
}

mo_status mo_lower_matmul_integer(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    return lower_matrices(site, &integers, lowered, err);
}

mo_status mo_lower_qlinear_matmul(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    return lower_matrices(site, &linear, lowered, err);
}

typedef struct conv_problem {
    mo_call_window sweep;
    int64_t batch, channels, out_channels, groups;
    int64_t taps, places; /* of a window; windows of an image */
} conv_problem;

static mo_status read_conv(const mo_op_site *site, const quantized *q,
                           conv_problem *p, mo_error *err)
{
    const mo_shape *x = &site->in[q->a].shape, *w = &site->in[q->b].shape;
    int spatial = 0;
    mo_status status = mo_lower_window_check(site, &spatial, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "group", 1, &p->groups, err);
    if (status != MO_OK)
        return status;
    p->batch = x->dims[0];
    p->channels = x->dims[1];
    p->out_channels = site->out[0].shape.dims[1];
    if (p->groups < 1 || w->rank != x->rank ||
        w->dims[1] * p->groups != p->channels ||
        w->dims[0] != p->out_channels || w->dims[0] % p->groups != 0)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its weights do not fit its data");
    status = mo_lower_window_read(site, w->dims + 2, &p->sweep, err);
    if (status != MO_OK)
        return status;
    p->taps = p->places = 1;
    for (int d = 0; d < spatial; d++) {
        const mo_call_window *s = &p->sweep;
        int64_t reach = (s->out[d] - 1) * s->stride[d] +
                        (s->kernel[d] - 1) * s->dilation[d] + 1;

        if (s->pad_begin[d] < 0 || s->pad_end[d] < 0 ||
            reach > s->in[d] + s->pad_begin[d] + s->pad_end[d])
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its windows end beyond the padding");
        p->taps *= s->kernel[d];
        p->places *= s->out[d];
    }
    return MO_OK;
}

/* Copies x, of that shape, into zeros; *x becomes the copy. */
static mo_status add_padding(const mo_op_site *site, const conv_problem *p,
                             int *x, mo_shape *shape, mo_lower_result *lowered,
                             mo_error *err)
{
    mo_shape padded = *shape;
    mo_call_copy_box inner = { 0 }, *boxes;
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    mo_tensor_desc desc;
    mo_call *call;
    int temp = 0;
    mo_status status;

    for (int d = 0; d < p->sweep.spatial; d++)
        padded.dims[2 + d] += p->sweep.pad_begin[d] + p->sweep.pad_end[d];
    if (mo_shape_equal(&padded, shape))
        return MO_OK;
    mo_lower_copy_strides(shape, in_stride);
    mo_lower_copy_strides(&padded, out_stride);
    for (int d = 0; d < shape->rank; d++) {
        mo_lower_copy_box_push(&inner, shape->dims[d], in_stride[d],
                               out_stride[d]);
        if (d >= 2)
            inner.out_offset += p->sweep.pad_begin[d - 2] * out_stride[d];
    }
    desc = (mo_tensor_desc){ MO_ELEM_F64, padded };
    status = mo_lower_add_temp(lowered, site, &desc, &temp, err);
    if (status == MO_OK)
        status = mo_lower_copy_add_box(&inner, *x, temp, lowered, err);
    if (status != MO_OK)
        return status;
    boxes = mo_arena_array(lowered->arena, 2, sizeof *boxes);
    if (!boxes)
        return mo_fail_memory(err);
    boxes[0] = mo_lower_copy_box_init(&padded);
    boxes[0].from = MO_CALL_COPY_FILL;
    boxes[1] = inner;
    call = &lowered->calls[lowered->n_calls - 1];
    call->u.copy.boxes = boxes;
    call->u.copy.n_boxes = 2;
    *x = temp;
    *shape = padded;
    return MO_OK;
}

/* im2col: [batch][channels][kernel...][windows...]. */
static mo_status add_columns(const mo_op_site *site, const conv_problem *p,
                             int *x, const mo_shape *shape,
                             mo_lower_result *lowered, mo_error *err)
{
    mo_shape columns = { .rank = 2, .dims = { p->batch, p->channels } };
    mo_call_copy_box box;
    int64_t stride[MO_MAX_RANK];
    mo_tensor_desc desc;
    int n = p->sweep.spatial, from = *x;
    mo_status status;

    for (int d = 0; d < n; d++)
        columns.dims[columns.rank++] = p->sweep.kernel[d];
    for (int d = 0; d < n; d++)
        columns.dims[columns.rank++] = p->sweep.out[d];
    box = mo_lower_copy_box_init(&columns);
    mo_lower_copy_strides(shape, stride);
    for (int d = 0; d < 2; d++)
        box.in_stride[d] = stride[d];
    for (int d = 0; d < n; d++) {
        box.in_stride[2 + d] = stride[2 + d] * p->sweep.dilation[d];
        box.in_stride[2 + n + d] = stride[2 + d] * p->sweep.stride[d];
    }
    desc = (mo_tensor_desc){ MO_ELEM_F64, columns };
    status = mo_lower_add_temp(lowered, site, &desc, x, err);
    if (status == MO_OK)
        status = mo_lower_copy_add_box(&box, from, *x, lowered, err);
    return status;
}

static mo_status lower_conv(const mo_op_site *site, const quantized *q,
                            mo_lower_result *lowered, mo_error *err)
{
    conv_problem p = { 0 };
    int x = 0, w = 0, sums = 0;
    mo_shape shape = site->in[q->a].shape;
    mo_status status = check_inputs(site, q, err);

    if (status == MO_OK)
        status = read_conv(site, q, &p, err);
    if (status == MO_OK)
        status = add_centered(site, q->a, q->a_zero, -1, &x, lowered, err);
    if (status == MO_OK)
        status = add_centered(site, q->b, q->b_zero, 0, &w, lowered, err);
    if (status == MO_OK)
        status = add_padding(site, &p, &x, &shape, lowered, err);
    if (status == MO_OK &&
        (p.taps > 1 || shape.rank > 3 || p.places != shape.dims[2]))
        status = add_columns(site, &p, &x, &shape, lowered, err);
    if (status == MO_OK)
        status = add_sums(site, &sums, lowered, err);
    if (status == MO_OK) {
        int64_t depth = p.channels / p.groups * p.taps;
        int64_t rows = p.out_channels / p.groups;
        mo_call *call;
        status = mo_lower_add_call(lowered, MO_CALL_MATMUL, 2, 1, &call, err);

        if (status == MO_OK) {
            call->in[0] = w;
            call->in[1] = x;
            call->out[0] = sums;
            call->first_extra = 2;
            call->u.matmul = (mo_call_matmul){
                .m = rows,
                .n = p.places,
                .k = depth,
                .n_batch = 2,
                .extent = { p.batch, p.groups },
                .a = { .row = depth,
                       .column = 1,
                       .batch = { 0, rows * depth } },
                .b = { .row = p.places,
                       .column = 1,
                       .batch = { p.groups * depth * p.places,
                                  depth * p.places } },
                .c = { .row = p.places,
                       .column = 1,
                       .batch = { p.out_channels * p.places,
                                  rows * p.places } },
            };
        }
    }
    if (status == MO_OK)
        status = finish_sums(site, q, sums, -1, 1, lowered, err);
    return status;
}

mo_status mo_lower_conv_integer(const mo_op_site *site,
                                mo_lower_result *lowered, mo_error *err)
{
    return lower_conv(site, &integers, lowered, err);
}

mo_status mo_lower_qlinear_conv(const mo_op_site *site,
                                mo_lower_result *lowered, mo_error *err)
{
    return lower_conv(site, &linear, lowered, err);
}
