/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GELU fusion: the ops that exporters write for the exact GELU become its step.
 * Its argument then has one reader, so that pointwise fusion makes it a part of
 * the epilogue of a product.
 *
 *     e = erf(x / sqrt 2) + 1, y = x e 0.5, in any order     ->     y = gelu x
 */
#include <math.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/passes/passes.h"

typedef struct gelu_pass {
    mo_exec_plan *plan;
    mo_pass_def_use uses;
    int device; /* of the call that is matched */
} gelu_pass;

/* Matches a pointwise call of that step of a number and a value, in this order
 * or, unless the order matters, in the other one. */
static bool match_number(const gelu_pass *p, const mo_call *call,
                         mo_point_op op, double number, int *value)
{
    const mo_point_step *step = &call->u.point.steps[0];
    double x;

    if (!mo_pass_point_is_step(p->plan, call, op))
        return false;
    for (int side = op == MO_POINT_DIVIDE; side < 2; side++) {
        int a = side ? step->a : step->b, b = side ? step->b : step->a;

        if (mo_pass_point_number(p->plan, call, b, &x) &&
            fabs(x - number) <= 1e-6 && a != b &&
            mo_pass_point_is_dense(p->plan, call, a)) {
            *value = call->in[a];
            return true;
        }
    }
    return false;
}

static const mo_call *maker_of(const gelu_pass *p, int value)
{
    return mo_pass_def_use_maker(&p->uses, p->plan, value, p->device);
}

/* Matches a value with 1 + erf(x / sqrt 2). */
static bool match_curve(const gelu_pass *p, int value, int *x)
{
    const mo_call *call = maker_of(p, value);

    if (!call || !match_number(p, call, MO_POINT_ADD, 1, &value))
        return false;
    call = maker_of(p, value);
    if (!call || !mo_pass_point_is_step(p->plan, call, MO_POINT_ERF) ||
        !mo_pass_point_is_dense(p->plan, call, 0))
        return false;
    call = maker_of(p, call->in[0]);
    return call && (match_number(p, call, MO_POINT_DIVIDE, sqrt(2), x) ||
                    match_number(p, call, MO_POINT_MULTIPLY, sqrt(0.5), x));
}

/* Matches a product of x and the curve of x. */
static bool match_product(const gelu_pass *p, const mo_call *call, int *x)
{
    const mo_point_step *step = &call->u.point.steps[0];
    int argument;

    if (!mo_pass_point_is_step(p->plan, call, MO_POINT_MULTIPLY) ||
        step->a == step->b || !mo_pass_point_is_dense(p->plan, call, 0) ||
        !mo_pass_point_is_dense(p->plan, call, 1))
        return false;
    for (int i = 0; i < 2; i++) {
        *x = call->in[i];
        if (match_curve(p, call->in[1 - i], &argument) &&
            mo_pass_same_value(p->plan, argument, *x))
            return true;
    }
    return false;
}

/* Matches half of x times the curve of x, whichever is halved. */
static bool match_gelu(const gelu_pass *p, const mo_call *call, int *x)
{
    const mo_point_step *step = &call->u.point.steps[0];
    const mo_call *product;
    int value, argument;

    if (match_number(p, call, MO_POINT_MULTIPLY, 0.5, &value)) {
        product = maker_of(p, value);
        return product && match_product(p, product, x);
    }
    if (!mo_pass_point_is_step(p->plan, call, MO_POINT_MULTIPLY) ||
        step->a == step->b || !mo_pass_point_is_dense(p->plan, call, 0) ||
        !mo_pass_point_is_dense(p->plan, call, 1))
        return false;
    for (int i = 0; i < 2; i++)
        for (int halved = 0; halved < 2; halved++) {
            /* Factor i of the product, and the other one. */
            const mo_call *half = maker_of(p, call->in[halved ? 1 - i : i]);
            int other = call->in[halved ? i : 1 - i];

            if (!half || !match_number(p, half, MO_POINT_MULTIPLY, 0.5, &value))
                continue;
            *x = halved ? other : value;
            if (match_curve(p, halved ? value : other, &argument) &&
                mo_pass_same_value(p->plan, argument, *x))
                return true;
        }
    return false;
}

static mo_status replace(const gelu_pass *p, mo_call *call, int x,
                         mo_error *err)
{
    const mo_shape *shape = &p->plan->values[call->out[0]].desc.shape;
    mo_point_program *point = &call->u.point;

    call->in = mo_arena_array(p->plan->arena, 1, sizeof *call->in);
    if (!call->in)
        return mo_fail_memory(err);
    call->in[0] = x;
    call->n_in = call->first_extra = 1;
    *point = mo_point_program_identity(MO_ELEM_F32, shape);
    point->result =
        mo_point_push_step(point, (mo_point_step){ .op = MO_POINT_GELU_ERF });
    return MO_OK;
}

mo_status mo_pass_fuse_gelu(mo_exec_plan *plan, mo_error *err)
{
    gelu_pass p = { .plan = plan };
    mo_status status = mo_pass_def_use_build(plan, &p.uses, err);

    for (int c = 0; c < plan->n_calls && status == MO_OK; c++) {
        mo_call *call = &plan->calls[c].call;
        int x;

        p.device = plan->calls[c].device;
        if (call->kind == MO_CALL_POINT && match_gelu(&p, call, &x) &&
            mo_tensor_desc_equal(&plan->values[x].desc,
                                 &plan->values[call->out[0]].desc))
            status = replace(&p, call, x, err);
    }
    mo_pass_def_use_clear(&p.uses);
    return status;
}
