/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory planning: offsets of the buffers of each device by liveness, of parts
 * and views from those, and the total size of weights.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/schedule/liveness.h"
#include "exec/plan/schedule/offsets.h"
#include "exec/plan/schedule/schedule_steps.h"
#include "exec/plan/ir/value_table.h"

static int count_live_values(const mo_exec_plan *plan,
                             const mo_plan_live_range *lives, int device)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        n += plan->values[v].device == device &&
             mo_plan_live_range_is_nonempty(&lives[v]);
    return n;
}

static void fill_buffers(const mo_exec_plan *plan,
                         const mo_plan_live_range *lives, int device,
                         mo_plan_buffer *blocks)
{
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *value = &plan->values[v];

        if (value->device == device &&
            mo_plan_live_range_is_nonempty(&lives[v]))
            *blocks++ =
                (mo_plan_buffer){ .owner = v,
                                  .begin = lives[v].begin,
                                  .end = lives[v].end,
                                  .bytes = mo_tensor_desc_bytes(&value->desc) };
    }
}

static mo_status fail_states(const mo_exec_plan *plan, int device,
                             mo_error *err)
{
    return mo_fail(err, MO_E_LIMIT,
                   "the states of device '%s' have more than 2^63 bytes",
                   plan->devices[device].id);
}

static int compare_states(const void *a, const void *b)
{
    const mo_plan_value *const *x = a, *const *y = b;

    return strcmp((*x)->state, (*y)->state);
}

/* States come first, by name: at the same place in all plans that have the same
 * states. */
static mo_status place_states(mo_exec_plan *plan, int device, mo_error *err)
{
    enum { ALIGN = 256 };
    mo_plan_value **states =
        calloc((size_t) plan->n_values + 1, sizeof *states);
    int64_t end = 0;
    size_t n = 0;
    bool fits = true;

    if (!states)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].state && plan->values[v].device == device)
            states[n++] = &plan->values[v];
    if (n > 0)
        qsort(states, n, sizeof *states, compare_states);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && strcmp(states[i]->state, states[i - 1]->state) == 0) {
            states[i]->offset = states[i - 1]->offset;
            continue;
        }
        states[i]->offset = end;
        fits =
            fits &&
            mo_int64_add(end, mo_tensor_desc_bytes(&states[i]->desc), &end) &&
            mo_int64_add(end, ALIGN - 1, &end);
        end = end / ALIGN * ALIGN;
    }
    plan->devices[device].state_bytes = end;
    free(states);
    return fits ? MO_OK : fail_states(plan, device, err);
}

static mo_status assign_device_offsets(mo_exec_plan *plan,
                                       const mo_plan_live_range *lives,
                                       int device, mo_error *err)
{
    int n = count_live_values(plan, lives, device);
    mo_plan_buffer *blocks = calloc((size_t) n + 1, sizeof *blocks);
    mo_plan_arena_size packed;
    mo_status status;

    if (!blocks)
        return mo_fail_memory(err);
    fill_buffers(plan, lives, device, blocks);
    status = mo_plan_assign_offsets(blocks, n, &packed, err);
    if (status == MO_OK)
        status = place_states(plan, device, err);
    if (status == MO_OK) {
        int64_t first = plan->devices[device].state_bytes;

        for (int i = 0; i < n; i++)
            plan->values[blocks[i].owner].offset = first + blocks[i].offset;
        if (!mo_int64_add(first, packed.bytes,
                          &plan->devices[device].arena_bytes))
            status = fail_states(plan, device, err);
    }
    free(blocks);
    return status;
}

/* A constant that a device reads; the same data under two shapes counts
 * once. */
typedef struct weight {
    int device;
    const void *data;
    int64_t bytes;
} weight;

static int compare_weights(const void *a, const void *b)
{
    const weight *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->data != y->data)
        return (const char *) x->data < (const char *) y->data ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int collect_weights(const mo_exec_plan *plan, const bool *is_read,
                           weight *weights)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *value = &plan->values[v];

        if (value->constant && is_read[v])
            weights[n++] = (weight){ value->device, value->constant->data,
                                     mo_tensor_desc_bytes(&value->desc) };
    }
    qsort(weights, (size_t) n, sizeof *weights, compare_weights);
    return n;
}

static mo_status add_weights(mo_exec_plan *plan, const weight *weights, int n,
                             mo_error *err)
{
    for (int i = 0; i < n; i++) {
        int64_t *sum = &plan->devices[weights[i].device].weight_bytes;

        if (i > 0 && weights[i].device == weights[i - 1].device &&
            weights[i].data == weights[i - 1].data)
            continue;
        if (!mo_int64_add(*sum, weights[i].bytes, sum))
            return mo_fail(err, MO_E_LIMIT,
                           "the weights of device '%s' have more than 2^63 "
                           "bytes",
                           plan->devices[weights[i].device].id);
    }
    return MO_OK;
}

mo_status mo_plan_count_weights(mo_exec_plan *plan, mo_error *err)
{
    size_t n = (size_t) plan->n_values + 1;
    bool *is_read = calloc(n, sizeof *is_read);
    weight *weights = calloc(n, sizeof *weights);
    mo_status status = is_read && weights ? MO_OK : mo_fail_memory(err);

    for (int d = 0; d < plan->n_devices; d++)
        plan->devices[d].weight_bytes = 0;
    if (status == MO_OK) {
        for (int c = 0; c < plan->n_calls; c++) {
            const mo_call *call = &plan->calls[c].call;

            for (int i = 0; i < call->n_in; i++)
                is_read[mo_plan_value_root(plan->values, call->in[i])] = true;
        }
        for (int i = 0; i < plan->n_outputs; i++)
            is_read[mo_plan_value_root(plan->values, plan->outputs[i].value)] =
                true;
        status = add_weights(plan, weights,
                             collect_weights(plan, is_read, weights), err);
    }
    free(weights);
    free(is_read);
    return status;
}

mo_status mo_plan_assign_memory(mo_exec_plan *plan, mo_error *err)
{
    mo_plan_live_range *lives = NULL;
    mo_status status = mo_plan_liveness(plan, &lives, err);

    if (status == MO_OK)
        status = mo_plan_liveness_across_streams(plan, lives, err);
    for (int v = 0; v < plan->n_values; v++)
        plan->values[v].offset = MO_PLAN_NONE;
    for (int d = 0; d < plan->n_devices && status == MO_OK; d++)
        status = assign_device_offsets(plan, lives, d, err);
    free(lives);
    if (status != MO_OK)
        return status;
    for (int v = 0; v < plan->n_values; v++) {
        mo_plan_value *value = &plan->values[v];

        if (value->part)
            value->offset =
                plan->values[value->part->of].offset +
                value->part->at * (int64_t) mo_elem_size(value->desc.elem);
    }
    /* A view has the offset of the value it shares bytes with. */
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].view_of != MO_PLAN_NONE)
            plan->values[v].offset =
                plan->values[mo_plan_value_root(plan->values, v)].offset;
    return mo_plan_count_weights(plan, err);
}
