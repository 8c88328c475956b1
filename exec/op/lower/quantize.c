/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear, as
 * ONNX defines them: saturate(round half to even(x / scale) + zero point).
 */
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"

bool mo_lower_quantize_has(const mo_op_site *site, int i)
{
    return i >= 0 && i < site->n_in &&
           mo_tensor_desc_elements(&site->in[i]) > 0;
}

static int operand_at(mo_point_builder *builder, int tensor,
                      const mo_tensor_desc *desc, int axis)
{
    int rank = builder->desc.shape.rank;
    mo_tensor_desc one = { desc->elem, { .rank = 0 } };

    if (mo_tensor_desc_elements(desc) == 1)
        return mo_point_builder_operand(builder, tensor, &one);
    if (desc->shape.rank != 1 || axis < 0 || axis >= rank)
        return mo_point_builder_operand(builder, tensor, desc);
    return mo_point_builder_operand_along(builder, tensor, desc, axis);
}

int mo_lower_quantize_operand(mo_point_builder *builder, int i, int axis)
{
    if (!mo_lower_quantize_has(builder->site, i))
        return -1;
    return operand_at(builder, i, &builder->site->in[i], axis);
}

int mo_lower_quantize_round_f32(mo_point_builder *builder, int reg)
{
    if (!mo_point_is_wide(&builder->point, builder->desc.elem))
        return reg;
    return mo_point_push_step(&builder->point,
                              (mo_point_step){ .op = MO_POINT_ROUND_TO,
                                               .a = reg,
                                               .elem = MO_ELEM_F32 });
}

/* The range of a quantized type; false: it is none. */
static bool find_range(mo_elem elem, double *least, double *most)
{
    switch (elem) {
    case MO_ELEM_U8:
        *least = 0;
        *most = 255;
        return true;
    case MO_ELEM_I8:
        *least = -128;
        *most = 127;
        return true;
    case MO_ELEM_U16:
        *least = 0;
        *most = 65535;
        return true;
    case MO_ELEM_I16:
        *least = -32768;
        *most = 32767;
        return true;
    default:
        return false;
    }
}

int mo_lower_quantize_saturate(mo_point_builder *builder, int reg, int zero,
                               mo_elem elem)
{
    double least = 0, most = 0;
    mo_error err = { 0 };

    if (!find_range(elem, &least, &most))
        mo_point_builder_fail(
            builder,
            mo_op_site_fail(builder->site, MO_E_SUPPORT, &err,
                            "quantizes to %s, not to u8, i8, u16 or i16",
                            mo_elem_name(elem)),
            &err);
    reg = mo_point_builder_unary(builder, MO_POINT_ROUND_EVEN, reg);
    if (zero >= 0)
        reg = mo_point_builder_binary(builder, MO_POINT_ADD, reg,
                                      mo_point_builder_to_real(builder, zero));
    reg = mo_point_builder_unary_params(builder, MO_POINT_CLAMP, reg, least,
                                        most);
    return mo_point_builder_unary(builder, MO_POINT_TRUNCATE, reg);
}

/* Scale and zero point of a tensor: the tensors that hold them. */
typedef struct parameters {
    int axis;
    int tensor[3]; /* by input; -1: absent */
    mo_tensor_desc desc[3];
} parameters;

/* Repeats the scales or zero points of blocks along the axis: those of that
 * input become a temporary of the data's shape. */
static mo_status expand_blocks(const mo_op_site *site, int input, int64_t block,
                               parameters *p, mo_lower_result *lowered,
                               mo_error *err)
{
    int axis = p->axis;
    const mo_shape *data = &site->in[0].shape;
    mo_shape from = site->in[input].shape;
    mo_call_copy_box box = { 0 };
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    mo_shape expected = *data;
    mo_status status;

    if (block < 1 || data->rank >= MO_MAX_RANK || data->dims[axis] % block != 0)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "can be run with whole blocks only");
    expected.dims[axis] /= block;
    if (!mo_shape_equal(&from, &expected))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "input %d has not one number for each block",
                               input);
    mo_lower_copy_strides(&from, in_stride);
    mo_lower_copy_strides(data, out_stride);
    for (int d = 0; d < data->rank; d++) {
        mo_lower_copy_box_push(&box, from.dims[d], in_stride[d],
                               out_stride[d] * (d == axis ? block : 1));
        if (d == axis)
            mo_lower_copy_box_push(&box, block, 0, out_stride[d]);
    }
    p->desc[input] = (mo_tensor_desc){ site->in[input].elem, *data };
    status = mo_lower_add_temp(lowered, site, &p->desc[input],
                               &p->tensor[input], err);
    if (status == MO_OK)
        status =
            mo_lower_copy_add_box(&box, input, p->tensor[input], lowered, err);
    return status;
}

static mo_status find_parameters(const mo_op_site *site, parameters *p,
                                 mo_lower_result *lowered, mo_error *err)
{
    int64_t axis = 1, block = 0;
    int rank = site->in[0].shape.rank;
    mo_status status = mo_op_site_check_arity(site, 2, 3, 1, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", 1, &axis, err);
    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "block_size", 0, &block, err);
    if (status != MO_OK)
        return status;
    p->axis = -1;
    if (mo_tensor_desc_elements(&site->in[1]) != 1 && rank > 0)
        status = mo_op_site_normalize_axis(site, axis, rank, &p->axis, err);
    for (int i = 1; i < 3 && status == MO_OK; i++) {
        p->tensor[i] = mo_lower_quantize_has(site, i) ? i : -1;
        if (p->tensor[i] < 0)
            continue;
        p->desc[i] = site->in[i];
        if (block > 0 && p->axis >= 0)
            status = expand_blocks(site, i, block, p, lowered, err);
        else if (p->axis >= 0 && mo_tensor_desc_elements(&site->in[i]) !=
                                     site->in[0].shape.dims[p->axis])
            status = mo_op_site_fail(site, MO_E_INPUT, err,
                                     "input %d has not one number for each "
                                     "index of axis %d",
                                     i, p->axis);
    }
    return status;
}

static int parameter_register(mo_point_builder *builder, const parameters *p,
                              int i)
{
    if (p->tensor[i] < 0)
        return -1;
    return operand_at(builder, p->tensor[i], &p->desc[i], p->axis);
}

mo_status mo_lower_quantize_linear(const mo_op_site *site,
                                   mo_lower_result *lowered, mo_error *err)
{
    parameters p = { 0 };
    mo_status status = find_parameters(site, &p, lowered, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int x, scale, zero;

    if (status != MO_OK)
        return status;
    x = mo_point_builder_operand(&builder, 0, &site->in[0]);
    scale = parameter_register(&builder, &p, 1);
    zero = parameter_register(&builder, &p, 2);
    x = mo_point_builder_binary(&builder, MO_POINT_DIVIDE,
                                mo_point_builder_to_real(&builder, x),
                                mo_point_builder_to_real(&builder, scale));
    mo_point_builder_store(&builder, mo_lower_quantize_saturate(
                                         &builder, x, zero, site->out[0].elem));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_dequantize_linear(const mo_op_site *site,
                                     mo_lower_result *lowered, mo_error *err)
{
    parameters p = { 0 };
    mo_status status = find_parameters(site, &p, lowered, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int x, scale, zero;

    if (status != MO_OK)
        return status;
    if (mo_elem_is_float(site->in[0].elem) ||
        (p.tensor[2] >= 0 && mo_elem_is_float(p.desc[2].elem)))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "its input is %s, not an integer",
                               mo_elem_name(site->in[0].elem));
    x = mo_point_builder_operand(&builder, 0, &site->in[0]);
    scale = parameter_register(&builder, &p, 1);
    zero = parameter_register(&builder, &p, 2);
    if (zero >= 0 && mo_elem_size(site->in[0].elem) <= 2 &&
        mo_elem_size(p.desc[2].elem) <= 2) { /* exact in f32 */
        x = mo_point_builder_binary(&builder, MO_POINT_SUBTRACT,
                                    mo_point_builder_to_real(&builder, x),
                                    mo_point_builder_to_real(&builder, zero));
        zero = -1;
    }
    if (zero >= 0)
        x = mo_point_builder_binary(&builder, MO_POINT_I_SUBTRACT, x, zero);
    x = mo_point_builder_to_real(&builder, x);
    scale = mo_point_builder_to_real(&builder, scale);
    mo_point_builder_store(
        &builder,
        mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, x, scale));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_status add_extreme(const mo_op_site *site, mo_call_reduce_op op,
                             int *temp, mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { site->in[0].elem, { .rank = 0 } };
    mo_call *call;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, temp, err);

    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_REDUCE, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->out[0] = *temp;
    call->u.reduce = (mo_call_reduce){
        .op = op,
        .rank = 1,
        .extent = { mo_tensor_desc_elements(&site->in[0]) },
        .in_stride = { 1 },
        .reduced = { true },
    };
    return MO_OK;
}

/* Output i, or a temporary in its place. */
static mo_status find_output(const mo_op_site *site, int i, mo_elem elem,
                             int *tensor, mo_lower_result *lowered,
                             mo_error *err)
{
    mo_tensor_desc desc = { elem, { .rank = 0 } };

    *tensor = site->n_in + i;
    if (i < site->n_out)
        return MO_OK;
    return mo_lower_add_temp(lowered, site, &desc, tensor, err);
}

static int number_register(mo_point_builder *builder, int tensor, mo_elem elem)
{
    mo_tensor_desc one = { elem, { .rank = 0 } };

    return mo_point_builder_operand(builder, tensor, &one);
}

/* Scale of the bounds of the data, which include 0: (most - least) / 255, or 1
 * where all is 0. */
static mo_status add_dynamic_scale(const mo_op_site *site, int scale,
                                   const int extremes[2],
                                   mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc real = { MO_ELEM_F32, { .rank = 0 } };
    mo_point_builder builder = mo_point_builder_init_for(site, scale, &real);
    mo_point_builder *b = &builder;
    int least = number_register(b, extremes[0], MO_ELEM_F32);
    int most = number_register(b, extremes[1], MO_ELEM_F32);
    int zero = mo_point_builder_unary_params(b, MO_POINT_CLAMP, least, 0, 0);
    int one = mo_point_builder_unary_params(b, MO_POINT_CLAMP, least, 1, 1);
    int levels =
        mo_point_builder_unary_params(b, MO_POINT_CLAMP, least, 255, 255);
    int same, width;

    least = mo_point_builder_binary(b, MO_POINT_MINIMUM, least, zero);
    most = mo_point_builder_binary(b, MO_POINT_MAXIMUM, most, zero);
    same = mo_point_builder_binary(b, MO_POINT_EQUAL, least, most);
    width = mo_point_builder_binary(b, MO_POINT_SUBTRACT, most, least);
    width = mo_point_builder_binary(b, MO_POINT_DIVIDE, width, levels);
    mo_point_builder_store(
        b, mo_point_builder_ternary(b, MO_POINT_SELECT, same, one, width));
    return mo_point_builder_finish_call(b, lowered, err);
}

static mo_status add_dynamic_data(const mo_op_site *site, int scale, int zero,
                                  mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    mo_point_builder *b = &builder;
    int x = mo_point_builder_operand(b, 0, &site->in[0]);
    int by = number_register(b, scale, MO_ELEM_F32);
    int from = number_register(b, zero, MO_ELEM_U8);

    x = mo_point_builder_binary(b, MO_POINT_DIVIDE, x, by);
    mo_point_builder_store(b,
                           mo_lower_quantize_saturate(b, x, from, MO_ELEM_U8));
    return mo_point_builder_finish_call(b, lowered, err);
}

mo_status mo_lower_dynamic_quantize(const mo_op_site *site,
                                    mo_lower_result *lowered, mo_error *err)
{
    int extremes[2] = { 0 }, scale = 0, zero = 0;
    mo_status status;

    if (site->n_in != 1 || site->n_out > 3 || site->in[0].elem != MO_ELEM_F32 ||
        site->out[0].elem != MO_ELEM_U8 ||
        mo_tensor_desc_elements(&site->in[0]) == 0)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "quantizes f32 to u8 only");
    status = add_extreme(site, MO_CALL_REDUCE_MIN, &extremes[0], lowered, err);
    if (status == MO_OK)
        status =
            add_extreme(site, MO_CALL_REDUCE_MAX, &extremes[1], lowered, err);
    if (status == MO_OK)
        status = find_output(site, 1, MO_ELEM_F32, &scale, lowered, err);
    if (status == MO_OK)
        status = find_output(site, 2, MO_ELEM_U8, &zero, lowered, err);
    if (status == MO_OK)
        status = add_dynamic_scale(site, scale, extremes, lowered, err);
    if (status == MO_OK) {
        /* saturate(round(0 - least / scale)). */
        mo_tensor_desc byte = { MO_ELEM_U8, { .rank = 0 } };
        mo_point_builder builder = mo_point_builder_init_for(site, zero, &byte);
        mo_point_builder *b = &builder;
        int x = number_register(b, extremes[0], MO_ELEM_F32);
        int by = number_register(b, scale, MO_ELEM_F32);

        x = mo_point_builder_binary(
            b, MO_POINT_MINIMUM, x,
            mo_point_builder_unary_params(b, MO_POINT_CLAMP, x, 0, 0));
        x = mo_point_builder_unary(b, MO_POINT_NEGATE, x);
        x = mo_point_builder_binary(b, MO_POINT_DIVIDE, x, by);
        mo_point_builder_store(
            b, mo_lower_quantize_saturate(b, x, -1, MO_ELEM_U8));
        status = mo_point_builder_finish_call(b, lowered, err);
    }
    if (status == MO_OK)
        status = add_dynamic_data(site, scale, zero, lowered, err);
    return status;
}
