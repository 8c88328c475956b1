/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of products of quantized integers: MatMulInteger, QLinearMatMul,
 * ConvInteger and QLinearConv of ONNX.
 *
 * Sums are exact, whatever precision the rest of the network runs in: operands
 * minus their zero points are multiplied as doubles, whose 53 bits hold every
 * sum that 32 bits do, or convolved as floats to i32, in parts whose sums the
 * 24 bits of floats hold.  Requantization rounds as ONNX Runtime does: scales
 * are multiplied and divided as f32, the sum is rounded to f32.
 */
#include <string.h>

#include "base/minmax.h"
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

/* Adds a temporary: input minus its zero point, as reals of that type. */
static mo_status add_centered(const mo_op_site *site, int input, int zero,
                              int axis, mo_elem elem, int *temp,
                              mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { elem, site->in[input].shape };
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

/* Sums of that type, plus the bias, to the result: i32, or requantized.
 * Scales of a are by a_axis of the result, those of b and the bias by
 * b_axis. */
static mo_status finish_sums(const mo_op_site *site, const quantized *q,
                             int sums, mo_elem elem, int a_axis, int b_axis,
                             mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { elem, site->out[0].shape };
    mo_point_builder builder = mo_point_builder_init(site);
    mo_point_builder *b = &builder;
    int sum = mo_point_builder_operand(b, sums, &desc), scale;
    int bias = mo_lower_quantize_operand(b, q->bias, b_axis);
    int a_scale = mo_lower_quantize_operand(b, q->a_scale, a_axis);
    int b_scale = mo_lower_quantize_operand(b, q->b_scale, b_axis);
    int y_scale = mo_lower_quantize_operand(b, q->y_scale, -1);
    int zero = mo_lower_quantize_operand(b, q->y_zero, -1);

    if (bias >= 0)
        sum = mo_point_builder_binary(
            b, MO_POINT_I_ADD, mo_point_builder_to_integer(b, sum), bias);
    if (q == &integers) {
        mo_point_builder_store(b, mo_point_builder_to_integer(b, sum));
        return mo_point_builder_finish_call(b, lowered, err);
    }
    scale = mo_point_builder_binary(b, MO_POINT_MULTIPLY, a_scale, b_scale);
    scale = mo_lower_quantize_round_f32(b, scale);
    scale = mo_point_builder_binary(b, MO_POINT_DIVIDE, scale, y_scale);
    scale = mo_lower_quantize_round_f32(b, scale);
    sum = mo_point_builder_to_real(b, sum);
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
    mo_tensor_desc desc = { MO_ELEM_F64, site->out[0].shape };
    int a = 0, b = 0, sums = 0, rank = desc.shape.rank;
    mo_status status = check_inputs(site, q, err);

    if (status == MO_OK)
        status =
            add_centered(site, q->a, q->a_zero, site->in[q->a].shape.rank - 2,
                         MO_ELEM_F64, &a, lowered, err);
    if (status == MO_OK)
        status =
            add_centered(site, q->b, q->b_zero, site->in[q->b].shape.rank - 1,
                         MO_ELEM_F64, &b, lowered, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &desc, &sums, err);
    if (status == MO_OK) {
        /* The product as MatMul has it, of other tensors than the site's. */
        mo_tensor_desc in[2] = { { MO_ELEM_F64, site->in[q->a].shape },
                                 { MO_ELEM_F64, site->in[q->b].shape } };
        mo_op_site product = { .name = site->name,
                               .type = site->type,
                               .n_in = 2,
                               .n_out = 1,
                               .in = in,
                               .out = &desc };
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
        status = finish_sums(site, q, sums, MO_ELEM_F64, rank - 2, rank - 1,
                             lowered, err);
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

/* A convolution whose sums floats hold: input channels are divided among
 * n_chunks, each of which is a group, and weights, where one chunk cannot be
 * small enough, into two digits. */
typedef struct conv_problem {
    mo_call_conv conv;                            /* of a digit */
    int64_t groups, rows, channels, taps, places; /* rows, channels: a group's;
                                                     taps: of a window; places:
                                                     windows of an image */
    int64_t n_chunks;
    int n_digits;
} conv_problem;

enum {
    DIGIT = 16,
    MAX_DIGITS = 2,
    AT_ONCE = (MO_POINT_MAX_OPERANDS - 1) / MAX_DIGITS /* chunks */
};

/* The largest magnitude of an operand of bytes minus its zero point. */
static int64_t largest_centered(const mo_op_site *site, int input, int zero)
{
    return site->in[input].elem == MO_ELEM_I8 &&
                   !mo_lower_quantize_has(site, zero)
               ? 128
               : 255;
}

/* Chooses chunks and digits: floats hold integers up to 2^24. */
static mo_status divide_sums(const mo_op_site *site, const quantized *q,
                             conv_problem *p, mo_error *err)
{
    int64_t most = (1 << 24) / largest_centered(site, q->a, q->a_zero);
    int64_t largest = largest_centered(site, q->b, q->b_zero);

    p->n_digits = p->taps * largest <= most ? 1 : MAX_DIGITS;
    if (p->n_digits > 1)
        largest = DIGIT;
    if (p->taps > most / largest)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has windows of more than %lld elements",
                               (long long) (most / largest));
    p->n_chunks = 1;
    while (p->n_chunks < p->channels &&
           (p->channels % p->n_chunks != 0 ||
            p->channels / p->n_chunks * p->taps > most / largest))
        p->n_chunks++;
    p->conv.groups = p->groups * p->n_chunks;
    p->conv.out_channels = p->conv.groups * p->rows;
    return MO_OK;
}

static bool is_byte(mo_elem elem)
{
    return elem == MO_ELEM_U8 || elem == MO_ELEM_I8;
}

static mo_status read_conv(const mo_op_site *site, const quantized *q,
                           conv_problem *p, mo_error *err)
{
    const mo_shape *x = &site->in[q->a].shape, *w = &site->in[q->b].shape;
    mo_call_window *s = &p->conv.sweep;
    int64_t n_rows = site->out[0].shape.dims[1];
    int spatial = 0;
    mo_status status = mo_lower_window_check(site, &spatial, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "group", 1, &p->groups, err);
    if (status != MO_OK)
        return status;
    p->conv.batch = x->dims[0];
    p->conv.in_channels = x->dims[1];
    if (p->groups < 1 || w->rank != x->rank ||
        w->dims[1] * p->groups != x->dims[1] || w->dims[0] != n_rows ||
        n_rows % p->groups != 0)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its weights do not fit its data");
    if (!is_byte(site->in[q->a].elem) || !is_byte(site->in[q->b].elem))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "convolves integers of more than 8 bits");
    p->rows = n_rows / p->groups;
    p->channels = w->dims[1];
    status = mo_lower_window_read(site, w->dims + 2, s, err);
    if (status != MO_OK)
        return status;
    p->taps = p->places = 1;
    for (int d = 0; d < spatial; d++) {
        int64_t reach = (s->out[d] - 1) * s->stride[d] +
                        (s->kernel[d] - 1) * s->dilation[d] + 1;

        if (s->pad_begin[d] < 0 || s->pad_end[d] < 0 ||
            reach > s->in[d] + s->pad_begin[d] + s->pad_end[d])
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its windows end beyond the padding");
        p->taps *= s->kernel[d];
        p->places *= s->out[d];
    }
    return divide_sums(site, q, p, err);
}

/* Adds a digit of the centered weights, those of each chunk together. */
static mo_status add_digit(const mo_op_site *site, const quantized *q,
                           const conv_problem *p, int digit, int *temp,
                           mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { MO_ELEM_F32,
                            { 5,
                              { p->groups, p->n_chunks, p->rows,
                                p->channels / p->n_chunks, p->taps } } };
    mo_tensor_desc weights = { site->in[q->b].elem, desc.shape };
    mo_tensor_desc by_row = { weights.elem,
                              { 5, { p->groups, 1, p->rows, 1, 1 } } };
    mo_point_builder builder;
    int64_t *stride;
    int w, zero = -1, high;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, temp, err);

    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, *temp, &desc);
    w = mo_point_builder_operand(&builder, q->b, &weights);
    stride = builder.point.operands[w].access.stride;
    stride[1] = p->channels / p->n_chunks * p->taps;
    stride[2] = p->channels * p->taps;
    if (mo_lower_quantize_has(site, q->b_zero)) {
        if (mo_tensor_desc_elements(&site->in[q->b_zero]) == 1)
            by_row.shape = (mo_shape){ .rank = 0 };
        else if (mo_tensor_desc_elements(&site->in[q->b_zero]) !=
                 p->groups * p->rows)
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its zero points do not fit its weights");
        zero = mo_point_builder_operand(&builder, q->b_zero, &by_row);
    }
    if (zero >= 0)
        w = mo_point_builder_binary(&builder, MO_POINT_I_SUBTRACT, w, zero);
    w = mo_point_builder_to_real(&builder, w);
    if (p->n_digits > 1) {
        high = mo_point_builder_unary_params(&builder, MO_POINT_AFFINE, w,
                                             1.0 / DIGIT, 0);
        high = mo_point_builder_unary(&builder, MO_POINT_FLOOR, high);
        if (digit == 0)
            high = mo_point_builder_unary_params(&builder, MO_POINT_AFFINE,
                                                 high, -DIGIT, 0);
        w = digit == 0
                ? mo_point_builder_binary(&builder, MO_POINT_ADD, w, high)
                : high;
    }
    mo_point_builder_store(&builder, w);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* Adds the sums of all chunks of a digit: [batch][groups][chunks][rows]
 * [windows...], as i32. */
static mo_status add_products(const mo_op_site *site, const conv_problem *p,
                              int x, int w, int *sums, mo_lower_result *lowered,
                              mo_error *err)
{
    mo_tensor_desc desc = { MO_ELEM_I32, site->out[0].shape };
    mo_call *call;
    mo_status status;

    desc.shape.dims[1] = p->conv.out_channels;
    status = mo_lower_add_temp(lowered, site, &desc, sums, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_CONV, 2, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = x;
    call->in[1] = w;
    call->out[0] = *sums;
    call->first_extra = 2;
    call->u.conv = p->conv;
    return MO_OK;
}

/* Adds so many chunks of all digits, from the first on, and those that
 * *total has (-1: none); *total becomes the result. */
static mo_status add_total(const mo_op_site *site, const conv_problem *p,
                           const int sums[MAX_DIGITS], int64_t first,
                           int64_t count, int *total, mo_lower_result *lowered,
                           mo_error *err)
{
    const mo_shape shape = { 4,
                             { p->conv.batch, p->groups, p->rows, p->places } };
    mo_tensor_desc desc = { MO_ELEM_I64, shape }, part = { MO_ELEM_I32, shape };
    int operand[MO_POINT_MAX_OPERANDS], n = 0, sum = -1, temp;
    mo_point_builder builder;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, &temp, err);

    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, temp, &desc);
    /* The high digit first. */
    for (int d = p->n_digits; d-- > 0;)
        for (int64_t c = first; c < first + count; c++) {
            mo_point_access *access;

            operand[n] = mo_point_builder_operand(&builder, sums[d], &part);
            access = &builder.point.operands[operand[n++]].access;
            access->offset = c * p->rows * p->places;
            access->stride[0] *= p->n_chunks;
            access->stride[1] *= p->n_chunks;
        }
    if (*total >= 0)
        sum = mo_point_builder_operand(&builder, *total, &desc);
    for (int i = 0; i < n; i++) {
        int term = operand[i];

        if (i < count && p->n_digits > 1)
            term = mo_point_builder_to_integer(
                &builder,
                mo_point_builder_unary_params(
                    &builder, MO_POINT_AFFINE,
                    mo_point_builder_to_real(&builder, term), DIGIT, 0));
        sum = sum < 0 ? term
                      : mo_point_builder_binary(&builder, MO_POINT_I_ADD, sum,
                                                term);
    }
    mo_point_builder_store(&builder, sum);
    *total = temp;
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_status lower_conv(const mo_op_site *site, const quantized *q,
                            mo_lower_result *lowered, mo_error *err)
{
    conv_problem p = { 0 };
    int x = 0, w = 0, sums[MAX_DIGITS] = { 0 }, total = -1;
    mo_status status = check_inputs(site, q, err);

    if (status == MO_OK)
        status = read_conv(site, q, &p, err);
    if (status == MO_OK)
        status = add_centered(site, q->a, q->a_zero, -1, MO_ELEM_F32, &x,
                              lowered, err);
    for (int d = 0; d < p.n_digits && status == MO_OK; d++) {
        status = add_digit(site, q, &p, d, &w, lowered, err);
        if (status == MO_OK)
            status = add_products(site, &p, x, w, &sums[d], lowered, err);
    }
    if (p.n_chunks * p.n_digits == 1 && status == MO_OK)
        return finish_sums(site, q, sums[0], MO_ELEM_I32, -1, 1, lowered, err);
    for (int64_t c = 0; c < p.n_chunks && status == MO_OK; c += AT_ONCE)
        status =
            add_total(site, &p, sums, c, mo_min_i64(AT_ONCE, p.n_chunks - c),
                      &total, lowered, err);
    if (status == MO_OK)
        status = finish_sums(site, q, total, MO_ELEM_I64, -1, 1, lowered, err);
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
