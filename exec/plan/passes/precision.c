/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixed precision: all f32 tensors are stored as f16 or bf16, which halves the
 * bytes to move and lets GPUs compute products twice as fast. Calls compute in
 * floats as before and round when they store. Constants are converted here,
 * once; inputs when they are loaded and outputs when they are collected
 * (exec/runtime/device/io_bind.c, exec/runtime/gather.c).
 */
#include <stdlib.h>
#include <string.h>

#include "exec/tensor/convert.h"
#include "exec/plan/passes/passes.h"

/* An f32 constant. Several values may share the data. */
typedef struct constant_entry {
    const void *data;
    int64_t elements;
    int value;
} constant_entry;

static int compare_entries(const void *a, const void *b)
{
    const constant_entry *x = a, *y = b;

    if (x->data != y->data)
        return (const char *) x->data < (const char *) y->data ? -1 : 1;
    if (x->elements != y->elements)
        return x->elements < y->elements ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int collect_constants(const mo_exec_plan *plan, constant_entry *entries)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++) {
        const mo_tensor_dense *constant = plan->values[v].constant;

        if (constant && constant->desc.elem == MO_ELEM_F32)
            entries[n++] =
                (constant_entry){ constant->data,
                                  mo_tensor_desc_elements(&constant->desc), v };
    }
    qsort(entries, (size_t) n, sizeof *entries, compare_entries);
    return n;
}

/* Returns the constant of an earlier plan that was made of the same data, or
 * NULL. */
static const mo_tensor_dense *find_narrowed(const mo_exec_plan *earlier,
                                            mo_elem storage_elem,
                                            const mo_tensor_dense *from)
{
    const mo_tensor_desc desc = { storage_elem, from->desc.shape };

    for (const mo_plan_owned_constant *c = earlier ? earlier->owned_constants
                                                   : NULL;
         c; c = c->next)
        if (c->narrowed == from->data &&
            mo_tensor_desc_equal(&c->value.desc, &desc))
            return &c->value;
    return NULL;
}

/* Converts the constant of a value; shares the data of same where that is not
 * NULL. */
static mo_status convert_constant(mo_exec_plan *plan, mo_elem storage_elem,
                                  int v, const mo_tensor_dense *same,
                                  const mo_tensor_dense **constant,
                                  mo_error *err)
{
    const mo_tensor_dense *from = plan->values[v].constant;
    const mo_tensor_desc desc = { storage_elem, from->desc.shape };
    mo_plan_owned_constant *owned = mo_arena_alloc(plan->arena, sizeof *owned);
    mo_status status = MO_OK;

    if (!owned)
        return mo_fail_memory(err);
    if (same)
        owned->value = (mo_tensor_dense){ .desc = desc, .data = same->data };
    else
        status = mo_tensor_new(&desc, &owned->value, err);
    if (status != MO_OK)
        return status;
    owned->narrowed = from->data;
    owned->next = plan->owned_constants;
    plan->owned_constants = owned;
    if (!same) {
        /* Part by part, since weights in a file may be unaligned. */
        int64_t n = mo_tensor_desc_elements(&from->desc);
        const char *bytes = from->data;
        char *narrow = owned->value.data;
        float part[1024];

        for (int64_t i = 0; i < n; i += 1024) {
            int64_t count = n - i < 1024 ? n - i : 1024;

            memcpy(part, bytes + (size_t) i * sizeof *part,
                   (size_t) count * sizeof *part);
            mo_tensor_narrow_f32(
                storage_elem, part,
                narrow + (size_t) i * mo_elem_size(storage_elem), count);
        }
    }
    *constant = &owned->value;
    return MO_OK;
}

static void convert_program_types(mo_elem storage_elem, mo_point_program *point,
                                  int first)
{
    for (int i = first; i < point->n_operands; i++)
        if (point->operands[i].elem == MO_ELEM_F32)
            point->operands[i].elem = storage_elem;
}

/* Of weights in a storage format. */
static void convert_format(mo_elem storage_elem, mo_block_format *format)
{
    if (*format == MO_BLOCK_F32)
        *format = storage_elem == MO_ELEM_F16 ? MO_BLOCK_F16 : MO_BLOCK_BF16;
}

mo_status mo_pass_precision(mo_elem storage_elem, const mo_exec_plan *earlier,
                            mo_exec_plan *plan, mo_error *err)
{
    mo_status status;

    if (storage_elem == MO_ELEM_F32)
        return MO_OK;

    constant_entry *entries =
        calloc((size_t) plan->n_values + 1, sizeof *entries);
    int n = entries ? collect_constants(plan, entries) : 0;
    status = entries ? MO_OK : mo_fail_memory(err);
    const mo_tensor_dense *made = NULL;

    for (int i = 0; i < n && status == MO_OK; i++) {
        bool again = i > 0 && entries[i].data == entries[i - 1].data &&
                     entries[i].elements == entries[i - 1].elements;

        const mo_tensor_dense *narrowed = find_narrowed(
            earlier, storage_elem, plan->values[entries[i].value].constant);

        if (narrowed)
            made = narrowed;
        else
            status = convert_constant(plan, storage_elem, entries[i].value,
                                      again ? made : NULL, &made, err);
        if (status == MO_OK)
            plan->values[entries[i].value].constant = made;
    }
    free(entries);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < plan->n_outputs; i++)
        plan->outputs[i].widened =
            plan->values[plan->outputs[i].value].desc.elem == MO_ELEM_F32;
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].desc.elem == MO_ELEM_F32)
            plan->values[v].desc.elem = storage_elem;
    for (int c = 0; c < plan->n_calls; c++) {
        mo_call *call = &plan->calls[c].call;

        if (call->kind == MO_CALL_POINT)
            convert_program_types(storage_elem, &call->u.point, 0);
        if (call->after)
            convert_program_types(storage_elem, call->after, 0);
        if (call->kind == MO_CALL_LINEAR)
            convert_format(storage_elem, &call->u.linear.format);
        if (call->kind == MO_CALL_EXPERTS)
            convert_format(storage_elem, &call->u.experts.format);
        /* Scores stay floats. */
        if (call->kind == MO_CALL_ATTENTION && call->u.attention.score)
            convert_program_types(storage_elem, call->u.attention.score, 1);
    }
    return MO_OK;
}
