/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a device for a plan: its memory, and where each value lies in it. */
#include "exec/runtime/device/device_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/stop.h"
#include "exec/plan/ir/value_table.h"
#include "exec/runtime/device/device_run_internal.h"

int64_t *mo_run_device_timestamps(const mo_run_device *device, int r)
{
    return device->timestamps +
           (size_t) r * mo_run_timestamp_count(device->n_actions);
}

void mo_run_report_progress(mo_run_device *d, const char *what)
{
    const mo_run_plan_options *o = d->options;
    int64_t now = mo_stop_clock_ns();

    if (o->on_progress)
        o->on_progress(o->progress_context, d->plan->devices[d->device].id,
                       what, (double) (now - d->phase_end_ns) * 1e-9);
    d->phase_end_ns = now;
}

mo_status mo_run_alloc_device_memory(mo_run_device *d, int64_t bytes,
                                     void **memory, mo_error *err)
{
    const char *id = d->plan->devices[d->device].id;
    mo_status status = MO_E_MEMORY;
    mo_error why = { 0 };

    *memory = NULL;
    if (d->backend->separate_memory && bytes == 0)
        return MO_OK;
    if (bytes >= 0 && (uint64_t) bytes <= SIZE_MAX)
        status = d->backend->alloc(d->unit, (size_t) bytes, memory, err);
    if (status == MO_OK)
        d->allocated_bytes += bytes;
    if (status != MO_E_MEMORY)
        return status;
    /* Backends with separate memory report how much is free. */
    if (err && d->backend->separate_memory)
        why = *err;
    if (why.text[0] != '\0')
        return mo_fail(err, MO_E_MEMORY, "device '%.80s': %s", id, why.text);
    return mo_fail(err, MO_E_MEMORY,
                   "device '%s': there is no memory for %lld bytes; place less "
                   "on it",
                   id, (long long) bytes);
}

/* Compares values, weights and workspaces with the capacity in the plan. */
static mo_status check_capacity(const mo_run_device *d, int64_t weights,
                                mo_error *err)
{
    mo_plan_device planned = d->plan->devices[d->device];
    const mo_exec_plan one = { .devices = &planned, .n_devices = 1 };
    int n_slots = d->options->n_slots > 1 ? d->options->n_slots : 1;
    mo_error why = { 0 };
    mo_status status;

    planned.weight_bytes = weights;
    if (!mo_int64_mul(planned.arena_bytes, n_slots, &planned.arena_bytes))
        planned.arena_bytes = INT64_MAX;
    status = mo_plan_check_capacity(&one, &d->workspace_bytes, &why);
    if (status == MO_OK)
        return MO_OK;
    return mo_fail(err, status, "%.800s%s", why.text,
                   n_slots > 1 ? ", or lower --in-flight" : "");
}

/* Before any allocation. */
static mo_status check_memory(const mo_run_device *d, int64_t weights,
                              int64_t workspaces, mo_error *err)
{
    const mo_plan_device *planned = &d->plan->devices[d->device];
    int64_t left = 0, total = 0, values = planned->arena_bytes, need;
    int n_slots = d->options->n_slots > 1 ? d->options->n_slots : 1;
    mo_status status;

    if (!d->backend->memory_info)
        return d->options->within_capacity ? check_capacity(d, weights, err)
                                           : MO_OK;
    status = d->backend->memory_info(d->unit, &left, &total, err);
    if (status != MO_OK)
        return status;
    if (!mo_int64_mul(values, n_slots, &values) ||
        !mo_int64_mul(workspaces, n_slots, &workspaces) ||
        !mo_int64_add(values, weights, &need) ||
        !mo_int64_add(need, workspaces, &need))
        need = INT64_MAX;
    if (need <= left)
        return MO_OK;
    return mo_fail(err, MO_E_MEMORY,
                   "device '%.80s' needs %" PRId64 " bytes for values, "
                   "%" PRId64 " for weights and %" PRId64 " to work in, and of "
                   "its %" PRId64 " bytes %" PRId64 " are free; place less "
                   "there%s",
                   planned->id, values, weights, workspaces, total, left,
                   n_slots > 1 ? ", or lower --in-flight" : "");
}

static mo_status alloc_arena(mo_run_device *d, const mo_run_weights *weights,
                             const int64_t *workspaces, mo_error *err)
{
    void *memory = NULL;
    mo_status status;

    status = mo_run_alloc_device_memory(
        d, d->plan->devices[d->device].arena_bytes, &memory, err);
    d->memory = memory;
    d->slot_bytes = d->allocated_bytes;
    if (status == MO_OK && d->backend->separate_memory) {
        status = mo_run_alloc_device_memory(d, weights->bytes, &memory, err);
        d->weights = memory;
    }
    for (int i = 0; i < MO_PLAN_MAX_STREAMS && status == MO_OK; i++)
        if (i == 0 || workspaces[i] > 0)
            status = mo_run_alloc_device_memory(d, workspaces[i],
                                                &d->workspaces[i], err);
    return status;
}

/* After kernels are final: finds the weights still needed, and their bytes with
 * those that kernels have packed; and workspaces. */
static mo_status find_sizes(mo_run_device *d, mo_run_weights *weights,
                            int64_t workspaces[MO_PLAN_MAX_STREAMS],
                            int64_t *weight_bytes, mo_error *err)
{
    mo_status status = mo_run_collect_weights(d, weights, err);

    mo_run_workspace_bytes(d, workspaces);
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        d->workspace_bytes += workspaces[i];
    *weight_bytes = weights->bytes;
    if (!d->backend->separate_memory)
        *weight_bytes = weights->data_bytes;
    if (!d->backend->separate_memory && d->backend->packed_bytes)
        *weight_bytes += d->backend->packed_bytes(d->unit);
    return status;
}

/* Zeroed before the first run, so that no page fault falls into a timed one. */
static mo_status alloc_timestamps(mo_run_device *d, mo_error *err)
{
    size_t row = mo_run_timestamp_count(d->n_actions), count;

    if (!mo_size_mul(row, (size_t) d->options->runs, &count) ||
        count > SIZE_MAX / sizeof *d->timestamps)
        return mo_fail_memory(err);
    d->timestamps = malloc(count * sizeof *d->timestamps);
    d->wait_ns = calloc((size_t) d->options->runs, sizeof *d->wait_ns);
    if (!d->timestamps || !d->wait_ns)
        return mo_fail_memory(err);
    memset(d->timestamps, 0, count * sizeof *d->timestamps);
    return MO_OK;
}

/* Opens the unit and prepares its kernels. */
static mo_status prepare_device(mo_run_device *d,
                                const mo_backend_unit_options *unit,
                                mo_error *err)
{
    size_t n = (size_t) d->plan->n_values + 1;
    mo_status status;

    d->phase_end_ns = mo_stop_clock_ns();
    d->backend = d->options->backends[d->device];
    status = d->backend->open(unit, &d->unit, err);
    if (status != MO_OK)
        return status;
    mo_run_report_progress(d, "opened");
    d->where = calloc(n, sizeof *d->where);
    d->constants = calloc(n, sizeof *d->constants);
    d->inputs = calloc(n, sizeof *d->inputs);
    d->copies = calloc(2 * n, sizeof *d->copies);
    d->unit_copies = calloc(2 * n, sizeof *d->unit_copies);
    d->fetched = calloc(n, sizeof *d->fetched);
    d->arena = mo_arena_new();
    status = d->where && d->constants && d->inputs && d->copies &&
                     d->unit_copies && d->fetched && d->arena
                 ? MO_OK
                 : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_run_bind_constants(d, err);
    return status == MO_OK ? mo_run_prepare_kernels(d, err) : status;
}

mo_status mo_run_device_open(mo_run_device *device, mo_error *err)
{
    mo_run_device *d = device;
    mo_status status;
    int64_t workspaces[MO_PLAN_MAX_STREAMS], weight_bytes;
    mo_run_weights weights = { 0 };
    const mo_exec_plan *plan;

    if (d->device == MO_PLAN_NONE)
        return alloc_timestamps(d, err);
    status = prepare_device(d, &d->options->units[d->device], err);
    if (status != MO_OK)
        return status;
    status = find_sizes(d, &weights, workspaces, &weight_bytes, err);
    plan = d->plan;
    if (status == MO_OK)
        status = check_memory(d, weight_bytes, d->workspace_bytes, err);
    if (status == MO_OK)
        status = alloc_arena(d, &weights, workspaces, err);
    if (status != MO_OK)
        return status;
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *value = &plan->values[v];

        if (value->device != d->device || value->view_of != MO_PLAN_NONE ||
            value->constant)
            continue;
        if (value->offset != MO_PLAN_NONE && d->memory)
            d->where[v] = d->memory + value->offset;
    }
    if (d->backend->separate_memory)
        status = mo_run_upload_weights(d, &weights, err);
    else {
        /* A kernel does not write to a constant. */
        for (int v = 0; v < d->plan->n_values; v++)
            if (d->plan->values[v].constant && d->constants[v])
                memcpy(&d->where[v], &d->constants[v], sizeof d->where[v]);
    }
    for (int v = 0; v < d->plan->n_values; v++)
        d->where[v] = d->where[mo_plan_value_root(d->plan->values, v)];
    mo_run_bind_operands(d);
    if (status == MO_OK)
        status = mo_run_bind_inputs(d, err);
    if (status == MO_OK && d->backend->separate_memory)
        status = mo_run_alloc_staging(d, err);
    if (status == MO_OK && d->backend->packed_bytes)
        d->allocated_bytes += d->backend->packed_bytes(d->unit);
    if (status == MO_OK)
        status = alloc_timestamps(d, err);
    if (status == MO_OK)
        mo_run_report_progress(d, "given its constants");
    return status;
}

mo_status mo_run_device_sizes(const mo_exec_plan *plan,
                              const mo_run_plan_options *options, int device,
                              mo_run_sizes *sizes, mo_error *err)
{
    mo_backend_unit_options unit = options->units[device];
    const mo_run_plan_options own = { .backends = options->backends };
    mo_run_device d = { .plan = plan, .options = &own, .device = device };
    int64_t workspaces[MO_PLAN_MAX_STREAMS];
    mo_run_weights weights = { 0 };
    mo_status status;

    unit.sizes_only = true;
    unit.cpus = NULL;
    unit.n_cpus = 0;
    status = prepare_device(&d, &unit, err);
    if (status == MO_OK)
        status =
            find_sizes(&d, &weights, workspaces, &sizes->weight_bytes, err);
    sizes->workspace_bytes = d.workspace_bytes;
    mo_run_device_close(&d);
    return status;
}

static mo_status copy_actions(const mo_run_device *d, mo_run_device *slot,
                              mo_error *err)
{
    slot->actions = mo_arena_array(slot->arena, (size_t) d->n_actions + 1,
                                   sizeof *slot->actions);
    if (!slot->actions)
        return mo_fail_memory(err);
    slot->n_actions = d->n_actions;
    for (int i = 0; i < d->n_actions; i++) {
        mo_run_action *a = &slot->actions[i];
        const mo_call *call;

        *a = d->actions[i];
        if (a->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        call = &d->plan->calls[a->what].call;
        a->in = mo_arena_array(slot->arena, (size_t) call->n_in, sizeof *a->in);
        a->out =
            mo_arena_array(slot->arena, (size_t) call->n_out, sizeof *a->out);
        if (!a->in || !a->out)
            return mo_fail_memory(err);
    }
    mo_run_bind_operands(slot);
    return MO_OK;
}

mo_status mo_run_device_open_slot(const mo_run_device *device,
                                  mo_run_device *slot, mo_error *err)
{
    const mo_run_device *d = device;
    int64_t workspaces[MO_PLAN_MAX_STREAMS];
    void *memory = NULL;
    mo_status status;

    slot->plan = d->plan;
    slot->options = d->options;
    slot->device = d->device;
    slot->backend = d->backend;
    slot->unit = d->unit;
    slot->shares_unit = true;
    slot->constants = d->constants;
    if (!d->backend->separate_memory)
        memcpy(slot->workspaces, d->workspaces, sizeof slot->workspaces);
    slot->arena = mo_arena_new();
    slot->where = calloc((size_t) d->plan->n_values + 1, sizeof *slot->where);
    if (!slot->arena || !slot->where)
        return mo_fail_memory(err);
    status = mo_run_alloc_device_memory(
        slot, d->plan->devices[d->device].arena_bytes, &memory, err);
    slot->memory = memory;
    /* Slots with separate memory may compute at the same time. */
    mo_run_workspace_bytes(d, workspaces);
    for (int i = 0; i < MO_PLAN_MAX_STREAMS && d->backend->separate_memory &&
                    status == MO_OK;
         i++)
        status = mo_run_alloc_device_memory(slot, workspaces[i],
                                            &slot->workspaces[i], err);
    slot->slot_bytes = slot->allocated_bytes;
    if (status != MO_OK)
        return status;
    /* Values of the device's memory are in that of the slot; constants are
     * shared. */
    for (int v = 0; v < d->plan->n_values; v++) {
        uintptr_t at = (uintptr_t) d->where[v], begin = (uintptr_t) d->memory;

        slot->where[v] = d->where[v];
        if (!d->constants[v] && at != 0 && at >= begin &&
            at - begin <= (uint64_t) d->plan->devices[d->device].arena_bytes)
            slot->where[v] = slot->memory + (at - begin);
    }
    status = copy_actions(d, slot, err);
    if (status == MO_OK && d->backend->separate_memory)
        status = mo_run_alloc_staging(slot, err);
    return status;
}

static void release_unit_memory(const mo_run_device *d, void *memory)
{
    if (memory)
        d->backend->release(d->unit, memory);
}

void mo_run_device_close(mo_run_device *device)
{
    mo_run_device *d = device;

    if (d->shares_unit) {
        if (d->backend->bind_thread)
            (void) d->backend->bind_thread(d->unit, NULL);
        for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
            if (d->backend->separate_memory)
                release_unit_memory(d, d->workspaces[i]);
        release_unit_memory(d, d->memory);
        if (d->staging)
            d->backend->free_pinned(d->unit, d->staging);
        mo_arena_free(d->arena);
        free(d->where);
        return;
    }
    if (d->unit) {
        /* An error here would only hide an earlier one. */
        if (d->backend->bind_thread)
            (void) d->backend->bind_thread(d->unit, NULL);
        for (int i = 0; i < d->n_actions; i++)
            if (d->actions[i].kernel)
                d->backend->free_kernel(d->unit, d->actions[i].kernel);
        for (int i = 0; i < d->n_unit_copies; i++)
            release_unit_memory(d, d->unit_copies[i]);
        for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
            release_unit_memory(d, d->workspaces[i]);
        release_unit_memory(d, d->weights);
        release_unit_memory(d, d->memory);
        if (d->staging)
            d->backend->free_pinned(d->unit, d->staging);
        d->backend->close(d->unit);
    }
    for (int i = 0; i < d->n_copies; i++)
        free(d->copies[i]);
    for (int v = 0; d->fetched && v < d->plan->n_values; v++)
        free(d->fetched[v]);
    mo_arena_free(d->arena);
    free(d->where);
    free(d->constants);
    free(d->inputs);
    free(d->copies);
    free(d->unit_copies);
    free(d->fetched);
    free(d->isolated_ns);
    free(d->timestamps);
    free(d->wait_ns);
}
