/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value reuse: a pointwise call that does what an earlier one did to the same
 * operands (common-subexpression elimination), as the masks of all layers do,
 * and one that copies its operand as it is, as conversions to the type that
 * values have by now, leave views of a value that is there:
 *
 *     m = where(x, 0, -inf)             m = where(x, 0, -inf)
 *     n = where(x, 0, -inf)        ->   n is a view of m
 *     y = f16(m)                        y is a view of m
 */
#include <stdlib.h>
#include <string.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/copy_map.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/passes/passes.h"

/* Small constants are compared by their bytes. */
enum { MOST_BYTES = 4096 };

typedef struct reuse {
    mo_exec_plan *plan;
    bool *keeps;  /* by value: it is an output, whose bytes are its own */
    int *first;   /* by value: the last pointwise call that reads it as in[0] */
    int *earlier; /* by call: the one before that */
    bool *dropped;
} reuse;

static bool same_operand(const mo_exec_plan *plan, int a, int b)
{
    const mo_plan_value *x = &plan->values[a], *y = &plan->values[b];
    const mo_tensor_dense *p = x->constant, *q = y->constant;
    size_t bytes = (size_t) mo_tensor_desc_bytes(&x->desc);

    if (a == b)
        return true;
    return p && q && x->view_of == MO_PLAN_NONE && y->view_of == MO_PLAN_NONE &&
           mo_tensor_desc_equal(&x->desc, &y->desc) && bytes <= MOST_BYTES &&
           memcmp(p->data, q->data, bytes) == 0;
}

static bool same_program(const mo_point_program *p, const mo_point_program *q,
                         const mo_shape *shape)
{
    bool same = mo_point_program_computes_same(p, q) &&
                mo_point_access_equal(&p->out, &q->out, shape);

    for (int i = 0; same && i < p->n_operands; i++)
        same = mo_point_access_equal(&p->operands[i].access,
                                     &q->operands[i].access, shape);
    return same;
}

static bool same_call(const mo_exec_plan *plan, const mo_plan_call *a,
                      const mo_plan_call *b)
{
    const mo_tensor_desc *made = &plan->values[a->call.out[0]].desc;
    bool same =
        a->device == b->device && a->call.n_in == b->call.n_in &&
        mo_tensor_desc_equal(made, &plan->values[b->call.out[0]].desc) &&
        same_program(&a->call.u.point, &b->call.u.point, &made->shape);

    for (int i = 0; same && i < a->call.n_in; i++)
        same = same_operand(plan, a->call.in[i], b->call.in[i]);
    return same;
}

/* Returns the result of an earlier call that is the same, or MO_PLAN_NONE.
 * Calls are found by their first operand that is no constant. */
static int find_same(reuse *r, int c)
{
    const mo_plan_call *calls = r->plan->calls;
    const mo_call *call = &calls[c].call;
    int at = 0, before;

    while (at < call->n_in - 1 && r->plan->values[call->in[at]].constant)
        at++;
    before = call->n_in > 0 ? r->first[call->in[at]] : MO_PLAN_NONE;
    for (; before != MO_PLAN_NONE; before = r->earlier[before])
        if (same_call(r->plan, &calls[before], &calls[c]))
            return calls[before].call.out[0];
    if (call->n_in > 0) {
        r->earlier[c] = r->first[call->in[at]];
        r->first[call->in[at]] = c;
    }
    return MO_PLAN_NONE;
}

/* A copy whose order is the same. */
static bool copies_box(const mo_call *call, int64_t elements)
{
    mo_tensor_copy_map map;

    return mo_pass_copy_map_of_call(call, elements, &map) && map.offset == 0 &&
           (map.rank == 0 || (map.rank == 1 && map.from[0] == 1));
}

/* The operand of a call that copies it as it is, or MO_PLAN_NONE. An input's
 * bytes are the caller's, those of a state change. */
static int find_source(const mo_exec_plan *plan, const mo_plan_call *call)
{
    const mo_plan_value *to = &plan->values[call->call.out[0]], *from, *root;
    int64_t elements = mo_tensor_desc_elements(&to->desc);

    if (call->call.n_in != 1)
        return MO_PLAN_NONE;
    from = &plan->values[call->call.in[0]];
    root = &plan->values[mo_plan_value_root(plan->values, call->call.in[0])];
    if (from->desc.elem != to->desc.elem || from->device != call->device ||
        root->input != MO_PLAN_NONE || root->constant || root->part ||
        root->state || from->channels_last || to->channels_last ||
        mo_tensor_desc_elements(&from->desc) != elements ||
        !(call->call.kind == MO_CALL_POINT
              ? call->call.u.point.n_steps == 0 &&
                    mo_pass_point_is_dense(plan, &call->call, 0)
              : copies_box(&call->call, elements)))
        return MO_PLAN_NONE;
    return call->call.in[0];
}

static mo_status allocate(reuse *r, mo_error *err)
{
    size_t calls = (size_t) r->plan->n_calls + 1;
    size_t values = (size_t) r->plan->n_values + 1;

    r->keeps = calloc(values, sizeof *r->keeps);
    r->first = calloc(values, sizeof *r->first);
    r->earlier = calloc(calls, sizeof *r->earlier);
    r->dropped = calloc(calls, sizeof *r->dropped);
    if (!r->keeps || !r->first || !r->earlier || !r->dropped)
        return mo_fail_memory(err);
    for (size_t v = 0; v < values; v++)
        r->first[v] = MO_PLAN_NONE;
    for (int i = 0; i < r->plan->n_outputs; i++)
        for (int v = r->plan->outputs[i].value; v != MO_PLAN_NONE;
             v = r->plan->values[v].view_of)
            r->keeps[v] = true;
    return MO_OK;
}

mo_status mo_pass_reuse_values(const bool *enabled, mo_exec_plan *plan,
                               mo_error *err)
{
    reuse r = { .plan = plan };
    mo_status status = enabled ? allocate(&r, err) : MO_OK;

    for (int c = 0; enabled && c < plan->n_calls && status == MO_OK; c++) {
        const mo_plan_call *call = &plan->calls[c];
        mo_plan_value *made = &plan->values[call->call.out[0]];
        int source;

        if (!enabled[call->device] || call->call.n_out != 1 ||
            (call->call.kind != MO_CALL_POINT &&
             call->call.kind != MO_CALL_COPY) ||
            r.keeps[call->call.out[0]] || made->part)
            continue;
        source = find_source(plan, call);
        if (source == MO_PLAN_NONE && call->call.kind == MO_CALL_POINT)
            source = find_same(&r, c);
        /* Views come behind what they are views of. */
        source = source == MO_PLAN_NONE
                     ? MO_PLAN_NONE
                     : mo_plan_value_root(plan->values, source);
        if (source == MO_PLAN_NONE || source > call->call.out[0])
            continue;
        made->view_of = source;
        r.dropped[c] = true;
    }
    if (enabled && status == MO_OK)
        mo_pass_drop_calls(plan, r.dropped);
    free(r.keeps);
    free(r.first);
    free(r.earlier);
    free(r.dropped);
    return status;
}
