/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/tensor/convert.h"
#include "exec/plan/passes/passes.h"

/*
 * All tensors of f32 become f16 or bf16: half the bytes to move, and products
 * that GPUs do twice as fast.  Calls compute in floats as before and round when
 * they store.  Constants are converted here, once; inputs when they are loaded
 * and outputs when they are collected (run_border.c, run_gather.c).
 */

/* A constant of f32.  Several may have the same data. */
typedef struct entry {
    const void *data;
    int64_t elements;
    int value;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->data != y->data)
        return (const char *) x->data < (const char *) y->data ? -1 : 1;
    if (x->elements != y->elements)
        return x->elements < y->elements ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int list_constants(const mo_exec_plan *plan, entry *entries)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++) {
        const mo_tensor_dense *constant = plan->values[v].constant;

        if (constant && constant->desc.elem == MO_ELEM_F32)
            entries[n++] =
                (entry){ constant->data,
                         mo_tensor_desc_elements(&constant->desc), v };
    }
    qsort(entries, (size_t) n, sizeof *entries, compare);
    return n;
}

/* A constant like that of value, in reals; its numbers are those of same where
 * that is not NULL. */
static mo_status make_constant(mo_exec_plan *plan, mo_elem reals, int v,
                               const mo_tensor_dense *same,
                               const mo_tensor_dense **constant, mo_error *err)
{
    const mo_tensor_dense *from = plan->values[v].constant;
    const mo_tensor_desc desc = { reals, from->desc.shape };
    mo_plan_owned_constant *made = mo_arena_alloc(plan->arena, sizeof *made);
    mo_status status = MO_OK;

    if (!made)
        return mo_fail_memory(err);
    if (same)
        made->value = (mo_tensor_dense){ .desc = desc, .data = same->data };
    else
        status = mo_tensor_new(&desc, &made->value, err);
    if (status != MO_OK)
        return status;
    made->next = plan->made;
    plan->made = made;
    if (!same)
        mo_tensor_narrow_f32(reals, from->data, made->value.data,
                             mo_tensor_desc_elements(&desc));
    *constant = &made->value;
    return MO_OK;
}

static mo_status narrow_constants(mo_elem reals, mo_exec_plan *plan,
                                  mo_error *err)
{
    entry *entries = calloc((size_t) plan->n_values + 1, sizeof *entries);
    int n = entries ? list_constants(plan, entries) : 0;
    mo_status status = entries ? MO_OK : mo_fail_memory(err);
    const mo_tensor_dense *made = NULL;

    for (int i = 0; i < n && status == MO_OK; i++) {
        bool again = i > 0 && entries[i].data == entries[i - 1].data &&
                     entries[i].elements == entries[i - 1].elements;

        status = make_constant(plan, reals, entries[i].value,
                               again ? made : NULL, &made, err);
        if (status == MO_OK)
            plan->values[entries[i].value].constant = made;
    }
    free(entries);
    return status;
}

static void narrow_point(mo_elem reals, mo_point_program *point, int first)
{
    for (int i = first; i < point->n_operands; i++)
        if (point->operands[i].elem == MO_ELEM_F32)
            point->operands[i].elem = reals;
}

mo_status mo_pass_precision(mo_elem reals, mo_exec_plan *plan, mo_error *err)
{
    mo_status status;

    if (reals == MO_ELEM_F32)
        return MO_OK;
    status = narrow_constants(reals, plan, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < plan->n_outputs; i++)
        plan->outputs[i].widened =
            plan->values[plan->outputs[i].value].desc.elem == MO_ELEM_F32;
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].desc.elem == MO_ELEM_F32)
            plan->values[v].desc.elem = reals;
    for (int c = 0; c < plan->n_calls; c++) {
        mo_call *call = &plan->calls[c].call;

        if (call->kind == MO_CALL_POINT)
            narrow_point(reals, &call->u.point, 0);
        if (call->after)
            narrow_point(reals, call->after, 0);
        /* Scores stay floats. */
        if (call->kind == MO_CALL_ATTENTION && call->u.attention.score)
            narrow_point(reals, call->u.attention.score, 1);
    }
    return MO_OK;
}
