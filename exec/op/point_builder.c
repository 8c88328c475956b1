/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/point_builder.h"

#include <assert.h>
#include <string.h>

mo_point_builder mo_point_builder_init_for(const mo_op_site *site, int out,
                                           const mo_tensor_desc *desc)
{
    mo_point_builder draft = { .site = site, .out = out, .desc = *desc };

    draft.point.out = mo_point_access_dense(&desc->shape);
    return draft;
}

mo_point_builder mo_point_builder_init(const mo_op_site *site)
{
    return mo_point_builder_init_for(site, site->n_in, &site->out[0]);
}

void mo_point_builder_fail(mo_point_builder *draft, mo_status status,
                           const mo_error *err)
{
    if (draft->status != MO_OK || status == MO_OK)
        return;
    draft->status = status;
    draft->error = *err;
}

static int fail_builder(mo_point_builder *draft, mo_status status,
                        const char *why)
{
    mo_error err = { 0 };

    mo_point_builder_fail(
        draft, mo_op_site_fail(draft->site, status, &err, "%s", why), &err);
    return 0;
}

/* -------------------------------------------------------------- operands -- */

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

static int refuse_shape(mo_point_builder *draft, const mo_tensor_desc *from)
{
    char left[MO_TENSOR_DESC_TEXT_SIZE], right[MO_TENSOR_DESC_TEXT_SIZE];
    mo_error err = { 0 };
    mo_status status = mo_op_site_fail(
        draft->site, MO_E_INPUT, &err, "%s does not broadcast to %s",
        mo_tensor_desc_format(from, left),
        mo_tensor_desc_format(&draft->desc, right));

    mo_point_builder_fail(draft, status, &err);
    return 0;
}

int mo_point_builder_operand(mo_point_builder *draft, int tensor,
                             const mo_tensor_desc *from)
{
    mo_point_program *point = &draft->point;
    mo_point_operand *operand = &point->operands[point->n_operands];

    assert(point->n_steps == 0); /* registers of steps come behind */
    if (point->n_operands == MO_POINT_MAX_OPERANDS)
        return fail_builder(draft, MO_E_SUPPORT, "has too many inputs");
    if (!can_broadcast(&from->shape, &draft->desc.shape))
        return refuse_shape(draft, from);
    operand->elem = from->elem;
    operand->access =
        mo_point_access_broadcast(&from->shape, &draft->desc.shape);
    draft->in[point->n_operands] = tensor;
    return point->n_operands++;
}

int mo_point_builder_operand_along(mo_point_builder *draft, int tensor,
                                   const mo_tensor_desc *from, int axis)
{
    mo_tensor_desc padded = *from;
    const mo_shape *to = &draft->desc.shape;

    if (axis < 0 || axis + from->shape.rank > to->rank)
        return refuse_shape(draft, from);
    for (int d = from->shape.rank; d < to->rank - axis; d++)
        padded.shape.dims[d] = 1;
    padded.shape.rank = to->rank - axis;
    return mo_point_builder_operand(draft, tensor, &padded);
}

/* PaddlePaddle's broadcasting: trailing dimensions of 1 do not count, and axis
 * is the place of the first dimension; by default the last ones are aligned. */
static int paddle_input(mo_point_builder *draft, int i)
{
    const mo_op_site *site = draft->site;
    mo_tensor_desc from = site->in[i];
    int64_t axis = -1;
    mo_error err = { 0 };

    mo_point_builder_fail(
        draft, mo_op_site_attr_int(site, "axis", -1, &axis, &err), &err);
    if (axis < 0)
        axis = draft->desc.shape.rank - from.shape.rank;
    while (from.shape.rank > 0 && from.shape.dims[from.shape.rank - 1] == 1)
        from.shape.rank--;
    if (axis < 0 || axis > MO_MAX_RANK)
        return refuse_shape(draft, &site->in[i]);
    return mo_point_builder_operand_along(draft, i, &from, (int) axis);
}

int mo_point_builder_input(mo_point_builder *draft, int i)
{
    const mo_op_site *site = draft->site;

    if (i >= site->n_in)
        return fail_builder(draft, MO_E_INPUT, "has too few inputs");
    if (mo_op_site_attr_equals(site, "auto_broadcast", "none") &&
        !mo_shape_equal(&site->in[i].shape, &draft->desc.shape))
        return refuse_shape(draft, &site->in[i]);
    if (mo_op_site_attr_equals(site, "auto_broadcast", "pdpd") &&
        !mo_shape_equal(&site->in[i].shape, &draft->desc.shape))
        return paddle_input(draft, i);
    return mo_point_builder_operand(draft, i, &site->in[i]);
}

/* ----------------------------------------------------------------- steps -- */

static int push_step(mo_point_builder *draft, mo_point_step step)
{
    int reg = mo_point_push_step(&draft->point, step);

    return reg >= 0 ? reg
                    : fail_builder(draft, MO_E_SUPPORT, "has too many steps");
}

int mo_point_builder_unary(mo_point_builder *draft, mo_point_op op, int a)
{
    return push_step(draft, (mo_point_step){ .op = op, .a = a });
}

int mo_point_builder_unary_params(mo_point_builder *draft, mo_point_op op,
                                  int a, double x, double y)
{
    return push_step(draft,
                     (mo_point_step){ .op = op, .a = a, .x = x, .y = y });
}

int mo_point_builder_binary(mo_point_builder *draft, mo_point_op op, int a,
                            int b)
{
    return push_step(draft, (mo_point_step){ .op = op, .a = a, .b = b });
}

int mo_point_builder_ternary(mo_point_builder *draft, mo_point_op op, int a,
                             int b, int c)
{
    return push_step(draft,
                     (mo_point_step){ .op = op, .a = a, .b = b, .c = c });
}

bool mo_point_builder_is_real(const mo_point_builder *draft, int reg)
{
    return draft->status == MO_OK &&
           mo_point_register_is_real(&draft->point, reg);
}

int mo_point_builder_to_real(mo_point_builder *draft, int reg)
{
    if (draft->status != MO_OK || mo_point_builder_is_real(draft, reg))
        return reg;
    return mo_point_builder_unary(draft, MO_POINT_TO_REAL, reg);
}

int mo_point_builder_to_integer(mo_point_builder *draft, int reg)
{
    if (!mo_point_builder_is_real(draft, reg))
        return reg;
    return mo_point_builder_unary(draft, MO_POINT_TRUNCATE, reg);
}

static bool is_boolean(const mo_point_builder *draft, int reg)
{
    const mo_point_program *point = &draft->point;

    return reg < point->n_operands && point->operands[reg].elem == MO_ELEM_BOOL;
}

/* 1 where reg is not 0; the 0 is made by clamping to 0. NaN is not 0: it
 * differs from what it is clamped to. */
int mo_point_builder_to_bool(mo_point_builder *draft, int reg)
{
    int zero;

    if (draft->status != MO_OK || is_boolean(draft, reg))
        return reg;
    if (!mo_point_builder_is_real(draft, reg))
        return push_step(draft, (mo_point_step){ .op = MO_POINT_I_WRAP,
                                                 .a = reg,
                                                 .elem = MO_ELEM_BOOL });
    zero = mo_point_builder_unary_params(draft, MO_POINT_CLAMP, reg, 0, 0);
    return mo_point_builder_binary(draft, MO_POINT_NOT_EQUAL, reg, zero);
}

void mo_point_builder_store(mo_point_builder *draft, int reg)
{
    mo_elem elem = draft->desc.elem;

    draft->point.result =
        mo_elem_is_float(elem) ? mo_point_builder_to_real(draft, reg)
        : elem == MO_ELEM_BOOL ? mo_point_builder_to_bool(draft, reg)
                               : mo_point_builder_to_integer(draft, reg);
}

/* Returns true when every dimension of the result is that of some operand. */
static bool makes_its_shape(const mo_point_builder *draft)
{
    const mo_shape *shape = &draft->desc.shape;

    if (mo_shape_elements(shape) == 0)
        return true;
    for (int d = 0; d < shape->rank; d++) {
        bool found = shape->dims[d] == 1;

        for (int i = 0; i < draft->point.n_operands; i++)
            found = found || draft->point.operands[i].access.stride[d] != 0;
        if (!found)
            return false;
    }
    return true;
}

static mo_status check_program(mo_point_builder *draft, mo_error *err)
{
    if (draft->status == MO_OK && !makes_its_shape(draft))
        fail_builder(draft, MO_E_INPUT,
                     "its inputs are smaller than its output");
    if (draft->status != MO_OK && err)
        *err = draft->error;
    return draft->status;
}

mo_status mo_point_builder_finish_call(mo_point_builder *draft, mo_arena *arena,
                                       mo_lower_result *lowered, mo_error *err)
{
    int n = draft->point.n_operands;
    mo_call *call;
    mo_status status = check_program(draft, err);

    if (status == MO_OK)
        status =
            mo_lower_add_call(lowered, arena, MO_CALL_POINT, n, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->u.point = draft->point;
    memcpy(call->in, draft->in, (size_t) n * sizeof *call->in);
    call->out[0] = draft->out;
    return MO_OK;
}

mo_status mo_point_builder_finish_epilogue(mo_point_builder *draft,
                                           mo_arena *arena, mo_call *call,
                                           mo_error *err)
{
    mo_status status = check_program(draft, err);
    mo_point_program *after;

    if (status != MO_OK)
        return status;
    after = mo_arena_alloc(arena, sizeof *after);
    if (!after)
        return mo_fail_memory(err);
    *after = draft->point;
    for (int i = 1; i < after->n_operands; i++)
        call->in[call->first_extra + i - 1] = draft->in[i];
    call->after = after;
    return MO_OK;
}
