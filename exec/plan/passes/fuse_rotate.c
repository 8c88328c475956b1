/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotation fusion: rotary positions, as exporters write them, negate one half
 * of a row and exchange the halves, which costs two calls. The sign goes to the
 * factor; the exchange is then a copy, which readers skip:
 *
 *     cat(-b, a) s      ->      cat(b, a) s (-1, ..., 1, ...)
 */
#include <string.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/passes/passes.h"

typedef struct rotate_pass {
    mo_exec_plan *plan;
    mo_pass_def_use uses;
    mo_plan_values values;
    mo_plan_call *calls; /* the new ones */
    int n;
} rotate_pass;

/* A concatenation of two parts along the last dimension, one of them negated.
 */
typedef struct rotation {
    const mo_call *concat;
    int from;             /* the operand that is negated */
    int source;           /* the value before */
    int64_t columns;      /* of the result */
    int64_t first, after; /* columns of the negated part */
} rotation;

static bool is_negation(const rotate_pass *p, const mo_call *call)
{
    const mo_point_program *point = &call->u.point;
    const mo_point_step *step = &point->steps[0];

    return call->kind == MO_CALL_POINT && call->n_in == 1 &&
           point->n_steps == 1 && mo_pass_point_is_dense(p->plan, call, 0) &&
           (step->op == MO_POINT_NEGATE ||
            (step->op == MO_POINT_AFFINE && step->x == -1 && step->y == 0));
}

/* The columns that a box writes, of a result with columns; false where it does
 * not write whole rows of them. */
static bool find_columns(const mo_call_copy_box *box, const mo_shape *result,
                         int64_t *first, int64_t *after)
{
    int64_t columns = result->dims[result->rank - 1];
    int last = box->rank - 1;
    int64_t rows = mo_shape_elements(result) / columns, written = 1;

    for (int d = 0; d < last; d++)
        written *= box->extent[d];
    if (last < 0 || box->out_stride[last] != 1 || written != rows ||
        box->out_offset < 0 || box->out_offset + box->extent[last] > columns)
        return false;
    *first = box->out_offset;
    *after = *first + box->extent[last];
    return true;
}

/* Matches a value with a rotation. */
static bool match_rotation(const rotate_pass *p, int value, int device,
                           rotation *r)
{
    const mo_plan_value *made = &p->plan->values[value];
    const mo_call *call =
        mo_pass_def_use_maker(&p->uses, p->plan, value, device);

    if (!call || call->kind != MO_CALL_COPY || call->u.copy.n_boxes != 2 ||
        call->n_out != 1 || made->desc.shape.rank < 1 ||
        mo_tensor_desc_elements(&made->desc) < 1)
        return false;
    r->concat = call;
    r->columns = made->desc.shape.dims[made->desc.shape.rank - 1];
    for (int i = 0; i < 2; i++) {
        const mo_call_copy_box *box = &call->u.copy.boxes[i];
        const mo_call *negation;

        if (box->from == MO_CALL_COPY_FILL)
            return false;
        negation = mo_pass_def_use_maker(&p->uses, p->plan, call->in[box->from],
                                         device);
        if (!negation || !is_negation(p, negation))
            continue;
        r->from = box->from;
        r->source = negation->in[0];
        return find_columns(box, &made->desc.shape, &r->first, &r->after);
    }
    return false;
}

/* Returns a constant of a row of signs. */
static mo_status add_signs(rotate_pass *p, const rotation *r, int device,
                           int *value, mo_error *err)
{
    mo_tensor_desc desc = { MO_ELEM_F32, { 1, { r->columns } } };
    mo_plan_value made = mo_plan_value_init("signs", &desc, device);
    mo_tensor_dense *constant;
    mo_status status = mo_plan_add_constant(p->plan, &desc, &constant, err);

    if (status != MO_OK)
        return status;
    for (int64_t i = 0; i < r->columns; i++)
        ((float *) constant->data)[i] =
            i >= r->first && i < r->after ? -1.0f : 1.0f;
    made.constant = constant;
    return mo_plan_values_add(&p->values, &made, value, err);
}

/* Adds the concatenation without the negation. */
static mo_status add_exchange(rotate_pass *p, const rotation *r,
                              const mo_plan_call *place, int value, int *made,
                              mo_error *err)
{
    mo_plan_call copy = *place;
    mo_plan_value result = p->values.items[value];
    mo_status status;

    result.view_of = MO_PLAN_NONE;
    result.item = place->item;
    status = mo_plan_values_add(&p->values, &result, made, err);
    copy.call = *r->concat;
    copy.call.in = mo_arena_array(p->plan->arena, (size_t) r->concat->n_in,
                                  sizeof *copy.call.in);
    copy.call.out = mo_arena_array(p->plan->arena, 1, sizeof *copy.call.out);
    if (status == MO_OK && (!copy.call.in || !copy.call.out))
        status = mo_fail_memory(err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < r->concat->n_in; i++)
        copy.call.in[i] = i == r->from ? r->source : r->concat->in[i];
    copy.call.out[0] = *made;
    p->calls[p->n++] = copy;
    return MO_OK;
}

/* Adds the product of three factors. */
static mo_status add_product(rotate_pass *p, const mo_plan_call *place, int at,
                             int exchanged, int signs, mo_error *err)
{
    mo_plan_call product = *place;
    const mo_shape *shape = &p->values.items[place->call.out[0]].desc.shape;
    mo_point_program *point = &product.call.u.point;
    int *in = mo_arena_array(p->plan->arena, 3, sizeof *in);

    if (!in)
        return mo_fail_memory(err);
    for (int i = 0; i < 2; i++)
        in[i] = i == at ? exchanged : place->call.in[i];
    in[2] = signs;
    product.call.in = in;
    product.call.n_in = product.call.first_extra = 3;
    point->n_operands = 3;
    point->operands[2] = (mo_point_operand){ .elem = MO_ELEM_F32 };
    point->operands[2].access.stride[shape->rank - 1] = 1;
    point->steps[0] =
        (mo_point_step){ .op = MO_POINT_MULTIPLY, .a = 1 - at, .b = 2 };
    point->steps[1] =
        (mo_point_step){ .op = MO_POINT_MULTIPLY, .a = at, .b = 3 };
    point->n_steps = 2;
    point->result = 4;
    p->calls[p->n++] = product;
    return MO_OK;
}

/* Returns the operand of a product that is a rotation, or MO_PLAN_NONE. */
static int find_rotation(const rotate_pass *p, const mo_plan_call *place,
                         rotation *r)
{
    const mo_call *call = &place->call;
    const mo_point_program *point = &call->u.point;

    if (call->kind != MO_CALL_POINT || call->n_in != 2 || point->n_steps != 1 ||
        point->steps[0].op != MO_POINT_MULTIPLY ||
        point->steps[0].a == point->steps[0].b ||
        p->plan->values[call->out[0]].desc.elem != MO_ELEM_F32)
        return MO_PLAN_NONE;
    for (int at = 0; at < 2; at++)
        if (mo_pass_point_is_dense(p->plan, call, at) &&
            match_rotation(p, call->in[at], place->device, r) &&
            p->plan->values[call->out[0]].desc.shape.rank ==
                p->plan->values[call->in[at]].desc.shape.rank)
            return at;
    return MO_PLAN_NONE;
}

mo_status mo_pass_fuse_rotate(const bool *enabled, mo_exec_plan *plan,
                              mo_error *err)
{
    rotate_pass p = { .plan = plan };
    mo_status status;

    if (!enabled)
        return MO_OK;
    p.calls = mo_arena_array(plan->arena, 2 * (size_t) plan->n_calls + 1,
                             sizeof *p.calls);
    status = p.calls ? mo_pass_def_use_build(plan, &p.uses, err)
                     : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_plan_values_copy(plan, &p.values, err);
    for (int c = 0; c < p.plan->n_calls && status == MO_OK; c++) {
        const mo_plan_call *place = &p.plan->calls[c];
        int exchanged, signs, at;
        rotation r;

        at = enabled[place->device] ? find_rotation(&p, place, &r)
                                    : MO_PLAN_NONE;
        if (at == MO_PLAN_NONE) {
            p.calls[p.n++] = *place;
            continue;
        }
        status = add_signs(&p, &r, place->device, &signs, err);
        if (status == MO_OK)
            status = add_exchange(&p, &r, place, place->call.in[at], &exchanged,
                                  err);
        if (status == MO_OK)
            status = add_product(&p, place, at, exchanged, signs, err);
    }
    if (status == MO_OK)
        status = mo_plan_values_commit(&p.values, plan, err);
    if (status == MO_OK) {
        plan->calls = p.calls;
        plan->n_calls = p.n;
    }
    mo_plan_values_clear(&p.values);
    mo_pass_def_use_clear(&p.uses);
    return status;
}
