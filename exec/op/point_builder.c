/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/point_builder.h"

#include <assert.h>
#include <string.h>

mo_point_builder mo_point_builder_init_for(const mo_op_site *site, int out,
                                           const mo_tensor_desc *desc)
{
    mo_point_builder builder = { .site = site, .out = out, .desc = *desc };

    builder.point.out = mo_point_access_dense(&desc->shape);
    return builder;
}

mo_point_builder mo_point_builder_init(const mo_op_site *site)
{
    return mo_point_builder_init_for(site, site->n_in, &site->out[0]);
}

void mo_point_builder_fail(mo_point_builder *builder, mo_status status,
                           const mo_error *err)
{
    if (builder->status != MO_OK || status == MO_OK)
        return;
    builder->status = status;
    builder->error = *err;
}

static int fail_builder(mo_point_builder *builder, mo_status status,
                        const char *why)
{
    mo_error err = { 0 };

    mo_point_builder_fail(
        builder, mo_op_site_fail(builder->site, status, &err, "%s", why), &err);
    return 0;
}

static bool can_broadcast(const mo_shape *from, const mo_shape *to)
{
    int skipped = to->rank - from->rank;

    if (skipped < 0)
        return false;
    for (int d = 0; d < from->rank; d++)
        if (from->dims[d] != 1 && from->dims[d] != to->dims[skipped + d])
            return false;
    return true;
}

static int refuse_shape(mo_point_builder *builder, const mo_tensor_desc *from)
{
    char left[MO_TENSOR_DESC_TEXT_SIZE], right[MO_TENSOR_DESC_TEXT_SIZE];
    mo_error err = { 0 };
    mo_status status = mo_op_site_fail(
        builder->site, MO_E_INPUT, &err, "%s does not broadcast to %s",
        mo_tensor_desc_format(from, left),
        mo_tensor_desc_format(&builder->desc, right));

    mo_point_builder_fail(builder, status, &err);
    return 0;
}

int mo_point_builder_operand(mo_point_builder *builder, int tensor,
                             const mo_tensor_desc *from)
{
    mo_point_program *point = &builder->point;
    mo_point_operand *operand = &point->operands[point->n_operands];

    assert(point->n_steps == 0); /* registers of steps come behind */
    if (point->n_operands == MO_POINT_MAX_OPERANDS)
        return fail_builder(builder, MO_E_SUPPORT, "has too many inputs");
    if (!can_broadcast(&from->shape, &builder->desc.shape))
        return refuse_shape(builder, from);
    operand->elem = from->elem;
    operand->access =
        mo_point_access_broadcast(&from->shape, &builder->desc.shape);
    builder->in[point->n_operands] = tensor;
    return point->n_operands++;
}

int mo_point_builder_operand_along(mo_point_builder *builder, int tensor,
                                   const mo_tensor_desc *from, int axis)
{
    mo_tensor_desc padded = *from;
    const mo_shape *to = &builder->desc.shape;

    if (axis < 0 || axis + from->shape.rank > to->rank)
        return refuse_shape(builder, from);
    for (int d = from->shape.rank; d < to->rank - axis; d++)
        padded.shape.dims[d] = 1;
    padded.shape.rank = to->rank - axis;
    return mo_point_builder_operand(builder, tensor, &padded);
}

/* PaddlePaddle's broadcasting: trailing dimensions of 1 do not count, and axis
 * is the place of the first dimension; by default the last ones are aligned. */
static int paddle_input(mo_point_builder *builder, int i)
{
    const mo_op_site *site = builder->site;
    mo_tensor_desc from = site->in[i];
    int64_t axis = -1;
    mo_error err = { 0 };

    mo_point_builder_fail(
        builder, mo_op_site_attr_int(site, "axis", -1, &axis, &err), &err);
    if (axis < 0)
        axis = builder->desc.shape.rank - from.shape.rank;
    while (from.shape.rank > 0 && from.shape.dims[from.shape.rank - 1] == 1)
        from.shape.rank--;
    if (axis < 0 || axis > MO_MAX_RANK)
        return refuse_shape(builder, &site->in[i]);
    return mo_point_builder_operand_along(builder, i, &from, (int) axis);
}

int mo_point_builder_input(mo_point_builder *builder, int i)
{
    const mo_op_site *site = builder->site;

    if (i >= site->n_in)
        return fail_builder(builder, MO_E_INPUT, "has too few inputs");
    if (mo_op_site_attr_equals(site, "auto_broadcast", "none") &&
        !mo_shape_equal(&site->in[i].shape, &builder->desc.shape))
        return refuse_shape(builder, &site->in[i]);
    if (mo_op_site_attr_equals(site, "auto_broadcast", "pdpd") &&
        !mo_shape_equal(&site->in[i].shape, &builder->desc.shape))
        return paddle_input(builder, i);
    return mo_point_builder_operand(builder, i, &site->in[i]);
}

/* A register of u64: an operand, or a step on some. */
static bool is_unsigned(const mo_point_program *point, int reg)
{
    return (reg < point->n_operands
                ? point->operands[reg].elem
                : point->steps[reg - point->n_operands].elem) == MO_ELEM_U64;
}

static int push_step(mo_point_builder *builder, mo_point_step step)
{
    mo_point_signature signature = mo_point_op_signature(step.op);
    int reg;

    if (builder->status == MO_OK && !signature.a_real &&
        step.op != MO_POINT_I_WRAP &&
        is_unsigned(&builder->point, signature.arity > 2 ? step.b : step.a))
        step.elem = MO_ELEM_U64;
    reg = mo_point_push_step(&builder->point, step);

    return reg >= 0 ? reg
                    : fail_builder(builder, MO_E_SUPPORT, "has too many steps");
}

int mo_point_builder_unary(mo_point_builder *builder, mo_point_op op, int a)
{
    return push_step(builder, (mo_point_step){ .op = op, .a = a });
}

int mo_point_builder_unary_params(mo_point_builder *builder, mo_point_op op,
                                  int a, double x, double y)
{
    return push_step(builder,
                     (mo_point_step){ .op = op, .a = a, .x = x, .y = y });
}

int mo_point_builder_binary(mo_point_builder *builder, mo_point_op op, int a,
                            int b)
{
    return push_step(builder, (mo_point_step){ .op = op, .a = a, .b = b });
}

int mo_point_builder_ternary(mo_point_builder *builder, mo_point_op op, int a,
                             int b, int c)
{
    return push_step(builder,
                     (mo_point_step){ .op = op, .a = a, .b = b, .c = c });
}

bool mo_point_builder_is_real(const mo_point_builder *builder, int reg)
{
    return builder->status == MO_OK &&
           mo_point_register_is_real(&builder->point, reg);
}

int mo_point_builder_to_real(mo_point_builder *builder, int reg)
{
    if (builder->status != MO_OK || mo_point_builder_is_real(builder, reg))
        return reg;
    return mo_point_builder_unary(builder, MO_POINT_TO_REAL, reg);
}

int mo_point_builder_to_integer(mo_point_builder *builder, int reg)
{
    if (!mo_point_builder_is_real(builder, reg))
        return reg;
    return mo_point_builder_unary(builder, MO_POINT_TRUNCATE, reg);
}

static bool is_boolean(const mo_point_builder *builder, int reg)
{
    const mo_point_program *point = &builder->point;

    return reg < point->n_operands && point->operands[reg].elem == MO_ELEM_BOOL;
}

/* 1 where reg is not 0; the 0 is made by clamping to 0. NaN is not 0: it
 * differs from what it is clamped to. */
int mo_point_builder_to_bool(mo_point_builder *builder, int reg)
{
    int zero;

    if (builder->status != MO_OK || is_boolean(builder, reg))
        return reg;
    if (!mo_point_builder_is_real(builder, reg))
        return push_step(builder, (mo_point_step){ .op = MO_POINT_I_WRAP,
                                                   .a = reg,
                                                   .elem = MO_ELEM_BOOL });
    zero = mo_point_builder_unary_params(builder, MO_POINT_CLAMP, reg, 0, 0);
    return mo_point_builder_binary(builder, MO_POINT_NOT_EQUAL, reg, zero);
}

void mo_point_builder_store(mo_point_builder *builder, int reg)
{
    mo_elem elem = builder->desc.elem;

    builder->point.result =
        mo_elem_is_float(elem) ? mo_point_builder_to_real(builder, reg)
        : elem == MO_ELEM_BOOL ? mo_point_builder_to_bool(builder, reg)
        : elem == MO_ELEM_U64 && mo_point_builder_is_real(builder, reg)
            ? push_step(builder, (mo_point_step){ .op = MO_POINT_TRUNCATE,
                                                  .a = reg,
                                                  .elem = elem })
            : mo_point_builder_to_integer(builder, reg);
}

/* Returns true when every dimension of the result is that of some operand. */
static bool makes_its_shape(const mo_point_builder *builder)
{
    const mo_shape *shape = &builder->desc.shape;

    if (mo_shape_elements(shape) == 0)
        return true;
    for (int d = 0; d < shape->rank; d++) {
        bool found = shape->dims[d] == 1;

        for (int i = 0; i < builder->point.n_operands; i++)
            found = found || builder->point.operands[i].access.stride[d] != 0;
        if (!found)
            return false;
    }
    return true;
}

static mo_status check_program(mo_point_builder *builder, mo_error *err)
{
    if (builder->status == MO_OK && !makes_its_shape(builder))
        fail_builder(builder, MO_E_INPUT,
                     "its inputs are smaller than its output");
    if (builder->status != MO_OK && err)
        *err = builder->error;
    return builder->status;
}

mo_status mo_point_builder_finish_call(mo_point_builder *builder,
                                       mo_lower_result *lowered, mo_error *err)
{
    int n = builder->point.n_operands;
    mo_call *call;
    mo_status status = check_program(builder, err);

    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_POINT, n, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->u.point = builder->point;
    memcpy(call->in, builder->in, (size_t) n * sizeof *call->in);
    call->out[0] = builder->out;
    return MO_OK;
}

mo_status mo_point_builder_finish_epilogue(mo_point_builder *builder,
                                           mo_arena *arena, mo_call *call,
                                           mo_error *err)
{
    mo_status status = check_program(builder, err);
    mo_point_program *after;

    if (status != MO_OK)
        return status;
    after = mo_arena_alloc(arena, sizeof *after);
    if (!after)
        return mo_fail_memory(err);
    *after = builder->point;
    for (int i = 1; i < after->n_operands; i++)
        call->in[call->first_extra + i - 1] = builder->in[i];
    call->after = after;
    return MO_OK;
}
