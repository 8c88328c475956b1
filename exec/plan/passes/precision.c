/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixed precision: all f32 tensors are stored as f16 or bf16, which halves the
 * bytes to move and lets GPUs compute products twice as fast. Calls compute in
 * floats as before and round when they store. Constants are converted here,
 * once; inputs when they are loaded and outputs when they are collected
 * (exec/runtime/device/io_bind.c, exec/runtime/gather.c).
 *
 * Reals that are computed of integers alone stay f32: the angles of rotary
 * positions, which a narrow type would round to multiples of 8 and more.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/plan/ir/value_table.h"
#include "exec/tensor/convert.h"
#include "exec/plan/passes/passes.h"

/* Values that stay f32, by value; of views their roots until the end. */
typedef struct exact_values {
    const mo_exec_plan *plan;
    bool *is_exact;
} exact_values;

/* Larger ones are weights. */
enum { MOST_EXACT_CONSTANT = 1 << 20 };

static int root_of(const exact_values *e, int value)
{
    return mo_plan_value_root(e->plan->values, value);
}

static bool is_small_constant(const mo_plan_value *value)
{
    return value->constant && value->desc.elem == MO_ELEM_F32 &&
           mo_tensor_desc_elements(&value->desc) <= MOST_EXACT_CONSTANT;
}

/* Returns whether a call reads integers, or what was computed of them. */
static bool reads_exact(const exact_values *e, const mo_call *call)
{
    for (int i = 0; i < call->n_in; i++) {
        int root = root_of(e, call->in[i]);
        const mo_plan_value *value = &e->plan->values[root];

        if (!value->constant &&
            (e->is_exact[root] || !mo_elem_is_float(value->desc.elem)))
            return true;
    }
    return false;
}

/* Returns whether the result of a call depends on integers and small constants
 * only. A copy has one type: its constants have to stay f32, too, unless that
 * is not decided yet. */
static bool makes_exact(const exact_values *e, const mo_call *call,
                        bool decided)
{
    bool copies = call->kind == MO_CALL_COPY;

    if ((call->kind != MO_CALL_POINT && !copies) || call->n_out != 1 ||
        e->plan->values[call->out[0]].desc.elem != MO_ELEM_F32 ||
        !reads_exact(e, call))
        return false;
    for (int i = 0; i < call->n_in; i++) {
        int root = root_of(e, call->in[i]);
        const mo_plan_value *value = &e->plan->values[root];

        if (!e->is_exact[root] &&
            (copies ? decided || !is_small_constant(value)
                    : mo_elem_is_float(value->desc.elem) &&
                          !is_small_constant(value)))
            return false;
    }
    return true;
}

/* Returns whether operand i may have another type than the result. */
static bool may_differ(const exact_values *e, const mo_call *call, int i)
{
    if (call->kind == MO_CALL_POINT || (call->after && i >= call->first_extra))
        return true;
    return call->kind == MO_CALL_COPY && call->n_out == 1 &&
           e->is_exact[call->out[0]];
}

/* Narrows values that a call or an output reads as the others. Returns whether
 * any was. */
static bool narrow_some(exact_values *e)
{
    const mo_exec_plan *plan = e->plan;
    bool any = false;

    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;

        for (int i = 0; i < call->n_in; i++) {
            int root = root_of(e, call->in[i]);

            if (e->is_exact[root] && !may_differ(e, call, i))
                any = true, e->is_exact[root] = false;
        }
        if (call->n_out == 1 && e->is_exact[call->out[0]] &&
            !makes_exact(e, call, true))
            any = true, e->is_exact[call->out[0]] = false;
    }
    for (int i = 0; i < plan->n_outputs; i++) {
        int root = root_of(e, plan->outputs[i].value);

        any = any || e->is_exact[root];
        e->is_exact[root] = false;
    }
    return any;
}

/* Finds the values, and the constants that are read together with them; the
 * caller frees the list. */
static mo_status find_exact(exact_values *e, mo_error *err)
{
    const mo_exec_plan *plan = e->plan;

    e->is_exact = calloc((size_t) plan->n_values + 1, sizeof *e->is_exact);
    if (!e->is_exact)
        return mo_fail_memory(err);
    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;
        bool is_exact = makes_exact(e, call, false);

        if (!is_exact && (call->kind != MO_CALL_POINT || !reads_exact(e, call)))
            continue;
        if (is_exact)
            e->is_exact[call->out[0]] = true;
        for (int i = 0; i < call->n_in; i++) {
            int root = root_of(e, call->in[i]);

            if (is_small_constant(&plan->values[root]))
                e->is_exact[root] = true;
        }
    }
    while (narrow_some(e))
        ;
    for (int v = 0; v < plan->n_values; v++)
        e->is_exact[v] = e->is_exact[root_of(e, v)];
    return MO_OK;
}

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

static int collect_constants(const mo_exec_plan *plan, const bool *is_exact,
                             constant_entry *entries)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++) {
        const mo_tensor_dense *constant = plan->values[v].constant;

        if (constant && constant->desc.elem == MO_ELEM_F32 && !is_exact[v])
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

/* Operand i from first on is in[i - first]. */
static void convert_program_types(const mo_exec_plan *plan, const int *in,
                                  mo_point_program *point, int first)
{
    for (int i = first; i < point->n_operands; i++)
        if (point->operands[i].elem == MO_ELEM_F32)
            point->operands[i].elem = plan->values[in[i - first]].desc.elem;
}

/* Of weights in a storage format. */
static void convert_format(mo_elem storage_elem, mo_block_format *format)
{
    if (*format == MO_BLOCK_F32)
        *format = storage_elem == MO_ELEM_F16 ? MO_BLOCK_F16 : MO_BLOCK_BF16;
}

static void convert_call(const mo_exec_plan *plan, mo_elem storage_elem,
                         mo_call *call)
{
    if (call->kind == MO_CALL_POINT)
        convert_program_types(plan, call->in, &call->u.point, 0);
    if (call->after) {
        if (call->after->operands[0].elem == MO_ELEM_F32)
            call->after->operands[0].elem = storage_elem;
        convert_program_types(plan, call->in + call->first_extra, call->after,
                              1);
    }
    if (call->kind == MO_CALL_LINEAR)
        convert_format(storage_elem, &call->u.linear.format);
    if (call->kind == MO_CALL_EXPERTS)
        convert_format(storage_elem, &call->u.experts.format);
    /* Scores stay floats. */
    if (call->kind == MO_CALL_ATTENTION && call->u.attention.score)
        convert_program_types(plan, call->in + 3 + call->u.attention.has_mask,
                              call->u.attention.score, 1);
}

mo_status mo_pass_precision(mo_elem storage_elem, const mo_exec_plan *earlier,
                            mo_exec_plan *plan, mo_error *err)
{
    exact_values exact = { .plan = plan };
    constant_entry *entries;
    mo_status status;
    int n = 0;

    if (storage_elem == MO_ELEM_F32)
        return MO_OK;
    status = find_exact(&exact, err);
    entries = calloc((size_t) plan->n_values + 1, sizeof *entries);
    if (status == MO_OK && !entries)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        n = collect_constants(plan, exact.is_exact, entries);
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
    if (status == MO_OK) {
        /* All values but the exact ones, and the programs that read them. */
        for (int i = 0; i < plan->n_outputs; i++)
            plan->outputs[i].widened =
                plan->values[plan->outputs[i].value].desc.elem == MO_ELEM_F32 &&
                !exact.is_exact[plan->outputs[i].value];
        for (int v = 0; v < plan->n_values; v++)
            if (plan->values[v].desc.elem == MO_ELEM_F32 && !exact.is_exact[v])
                plan->values[v].desc.elem = storage_elem;
        for (int c = 0; c < plan->n_calls; c++)
            convert_call(plan, storage_elem, &plan->calls[c].call);
    }
    free(exact.is_exact);
    return status;
}
