/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalization fusion: the ops that exporters write for RMS normalization
 * become one call. Its weight is multiplied by its epilogue, after pointwise
 * fusion.
 *
 *     s = x^2, m = mean s, r = (m + eps)^-1/2, y = x r     ->     y = norm x
 */
#include <math.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/passes/passes.h"

typedef struct norm_pass {
    mo_exec_plan *plan;
    mo_pass_def_use uses;
} norm_pass;

/* (mean + eps)^power */
typedef struct root_mean {
    double eps, power;
} root_mean;

/* Returns whether operand r is f32, and read element by element of the result.
 */
static bool is_dense(const norm_pass *p, const mo_call *call, int r)
{
    return call->u.point.operands[r].elem == MO_ELEM_F32 &&
           mo_pass_point_is_dense(p->plan, call, r);
}

/* Returns whether the call makes the squares of x. */
static bool makes_squares(const norm_pass *p, const mo_call *call, int x)
{
    const mo_point_step *step = &call->u.point.steps[0];
    double two;

    if (mo_pass_point_is_step(p->plan, call, MO_POINT_MULTIPLY))
        return is_dense(p, call, step->a) && is_dense(p, call, step->b) &&
               mo_pass_same_value(p->plan, call->in[step->a], x) &&
               mo_pass_same_value(p->plan, call->in[step->b], x);
    return mo_pass_point_is_step(p->plan, call, MO_POINT_POWER) &&
           is_dense(p, call, step->a) &&
           mo_pass_point_number(p->plan, call, step->b, &two) && two == 2 &&
           mo_pass_same_value(p->plan, call->in[step->a], x);
}

/* Returns whether the call is a mean of rows, over the last dimensions of a
 * dense tensor; sets the number and length of rows. */
static bool is_mean_of_rows(const mo_call *call, mo_call_norm *norm)
{
    const mo_call_reduce *r = &call->u.reduce;
    int64_t stride = 1;
    bool kept = false;

    if (call->kind != MO_CALL_REDUCE || r->op != MO_CALL_REDUCE_MEAN ||
        call->after)
        return false;
    norm->groups = norm->count = 1;
    for (int d = r->rank; d-- > 0; stride *= r->extent[d]) {
        if (r->extent[d] == 1)
            continue;
        if (r->in_stride[d] != stride || (kept && r->reduced[d]))
            return false;
        kept = !r->reduced[d];
        *(kept ? &norm->groups : &norm->count) *= r->extent[d];
    }
    return norm->count > 1;
}

/* Applies step i to (mean + eps)^power, which is in register at; returns false
 * if the result is not of this form. */
static bool apply_step(const norm_pass *p, const mo_call *call, int i, int at,
                       root_mean *to)
{
    const mo_point_step *step = &call->u.point.steps[i];
    int other = step->a == at ? step->b : step->a;
    bool is_first = step->a == at, is_sum = to->power == 1;
    double x;

    switch (step->op) {
    case MO_POINT_SQRT:
        to->power /= 2;
        return is_first;
    case MO_POINT_RECIPROCAL:
        to->power = -to->power;
        return is_first;
    case MO_POINT_AFFINE:
        to->eps += step->y;
        return is_first && is_sum && step->x == 1;
    case MO_POINT_ADD:
        if (other == at || !mo_pass_point_number(p->plan, call, other, &x))
            return false;
        to->eps += x;
        return is_sum;
    case MO_POINT_POWER:
        if (!is_first || !mo_pass_point_number(p->plan, call, other, &x))
            return false;
        to->power *= x;
        return true;
    case MO_POINT_DIVIDE:
        to->power = -to->power;
        return !is_first && step->b == at &&
               mo_pass_point_number(p->plan, call, other, &x) && x == 1;
    default:
        return false;
    }
}

/* Returns the last operand of the call that is not a constant number. */
static int main_operand(const norm_pass *p, const mo_call *call)
{
    int at = 0;
    double x;

    for (int i = 0; i < call->n_in; i++)
        if (!mo_pass_point_number(p->plan, call, i, &x))
            at = i;
    return at;
}

/* Applies a pointwise call, each step of which takes the one before. */
static bool apply_call(const norm_pass *p, const mo_call *call, root_mean *to)
{
    const mo_point_program *point = &call->u.point;
    int at = main_operand(p, call);
    bool works = is_dense(p, call, at) &&
                 p->plan->values[call->out[0]].desc.elem == MO_ELEM_F32;

    for (int i = 0; works && i < point->n_steps; i++) {
        works = apply_step(p, call, i, at, to);
        at = point->n_operands + i;
    }
    return works && point->result == at;
}

enum { MOST_CALLS = 4 };

/* Matches the value r of rows with the root of the mean of squares of x, or its
 * reciprocal. Calls are found from the last one on. */
static bool match_root(const norm_pass *p, int device, int r, int x,
                       mo_call_norm *norm, double power)
{
    const mo_call *calls[MOST_CALLS],
        *call = mo_pass_def_use_maker(&p->uses, p->plan, r, device), *squares;
    root_mean made = { 0, 1 };
    int n = 0;

    while (call && call->kind == MO_CALL_POINT && n < MOST_CALLS) {
        calls[n++] = call;
        call = mo_pass_def_use_maker(&p->uses, p->plan,
                                     call->in[main_operand(p, call)], device);
    }
    if (!call || !is_mean_of_rows(call, norm))
        return false;
    while (n-- > 0)
        if (!apply_call(p, calls[n], &made))
            return false;
    squares = mo_pass_def_use_maker(&p->uses, p->plan, call->in[0], device);
    norm->eps = made.eps;
    return squares && makes_squares(p, squares, x) && made.eps >= 0 &&
           made.power == power;
}

/* Returns whether operand r of the call has one number for each row. */
static bool is_by_row(const norm_pass *p, const mo_call *call, int r,
                      const mo_call_norm *norm)
{
    const mo_shape *shape = &p->plan->values[call->out[0]].desc.shape;
    const mo_point_access *access = &call->u.point.operands[r].access;
    int64_t count = norm->count, row = 1;

    for (int d = shape->rank; d-- > 0;) {
        int64_t extent = shape->dims[d];
        int64_t stride = count > 1 ? 0 : row;

        if (extent == 1)
            continue;
        if (count % extent != 0 && count > 1)
            return false;
        if (access->stride[d] != stride)
            return false;
        *(count > 1 ? &count : &row) =
            count > 1 ? count / extent : row * extent;
    }
    return access->offset == 0 && count == 1 && row == norm->groups &&
           call->u.point.operands[r].elem == MO_ELEM_F32;
}

/* Matches y = x r, or y = x / root. */
static bool match_norm(const norm_pass *p, const mo_plan_call *place, int *x,
                       mo_call_norm *norm)
{
    const mo_call *call = &place->call;
    const mo_point_step *step = &call->u.point.steps[0];
    bool divides = mo_pass_point_is_step(p->plan, call, MO_POINT_DIVIDE);

    if ((!divides &&
         !mo_pass_point_is_step(p->plan, call, MO_POINT_MULTIPLY)) ||
        call->n_in != 2 || step->a == step->b)
        return false;
    for (int side = 0; side < (divides ? 1 : 2); side++) {
        int a = side == 0 ? step->a : step->b, b = 1 - a;

        *norm = (mo_call_norm){ .scale = true };
        *x = call->in[a];
        if (is_dense(p, call, a) &&
            match_root(p, place->device, call->in[b], *x, norm,
                       divides ? 0.5 : -0.5) &&
            is_by_row(p, call, b, norm))
            return true;
    }
    return false;
}

static mo_status replace(norm_pass *p, mo_plan_call *place, int x,
                         const mo_call_norm *norm, mo_error *err)
{
    mo_call call = { .kind = MO_CALL_NORM,
                     .n_in = 1,
                     .n_out = 1,
                     .first_extra = 1,
                     .out = place->call.out,
                     .u.norm = *norm };

    call.in = mo_arena_array(p->plan->arena, 1, sizeof *call.in);
    if (!call.in)
        return mo_fail_memory(err);
    call.in[0] = x;
    place->call = call;
    return MO_OK;
}

mo_status mo_pass_fuse_norm(const bool *enabled, mo_exec_plan *plan,
                            mo_error *err)
{
    norm_pass p = { .plan = plan };
    mo_status status =
        enabled ? mo_pass_def_use_build(plan, &p.uses, err) : MO_OK;

    for (int c = 0; enabled && c < plan->n_calls && status == MO_OK; c++) {
        mo_plan_call *place = &plan->calls[c];
        mo_call_norm norm;
        int x;

        if (enabled[place->device] && place->call.kind == MO_CALL_POINT &&
            match_norm(&p, place, &x, &norm))
            status = replace(&p, place, x, &norm, err);
    }
    if (enabled)
        mo_pass_def_use_clear(&p.uses);
    return status;
}
