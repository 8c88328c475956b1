/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/device/device_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/stop.h"
#include "exec/plan/ir/value_table.h"
#include "exec/runtime/device/device_run_internal.h"

/* ------------------------------------------------------------------ telling */

void mo_run_report_progress(mo_run_device *d, const char *what)
{
    const mo_run_plan_options *o = d->options;
    int64_t now = mo_stop_clock_ns();

    if (o->hear)
        o->hear(o->hearer, d->plan->devices[d->device].id, what,
                (double) (now - d->told_ns) * 1e-9);
    d->told_ns = now;
}

/* ------------------------------------------------------------------- memory */

/* What has memory of its own says itself how much of it is left. */
static mo_status fail_alloc(const mo_run_device *d, int64_t bytes,
                            mo_error *err)
{
    const char *id = d->plan->devices[d->device].id;
    mo_error why = { 0 };

    if (err && d->backend->apart)
        why = *err;
    if (why.text[0] != '\0')
        return mo_fail(err, MO_E_MEMORY, "device '%.80s': %s", id, why.text);
    return mo_fail(err, MO_E_MEMORY,
                   "device '%s': there is no memory for %lld bytes; place less "
                   "on it",
                   id, (long long) bytes);
}

mo_status mo_run_alloc_device_memory(mo_run_device *d, int64_t bytes,
                                     void **memory, mo_error *err)
{
    mo_status status = MO_E_MEMORY;

    *memory = NULL;
    if (d->backend->apart && bytes == 0)
        return MO_OK;
    if (bytes >= 0 && (uint64_t) bytes <= SIZE_MAX)
        status = d->backend->alloc(d->unit, (size_t) bytes, memory, err);
    if (status == MO_OK)
        d->allocated_bytes += bytes;
    return status == MO_E_MEMORY ? fail_alloc(d, bytes, err) : status;
}

/* Known before anything is taken. */
static mo_status check_memory(const mo_run_device *d, int64_t weights,
                              int64_t workspaces, mo_error *err)
{
    const mo_plan_device *planned = &d->plan->devices[d->device];
    int64_t left = 0, total = 0, need = planned->arena_bytes;
    mo_status status;

    if (!d->backend->memory)
        return MO_OK;
    status = d->backend->memory(d->unit, &left, &total, err);
    if (status != MO_OK)
        return status;
    if (!mo_int64_add(need, weights, &need) ||
        !mo_int64_add(need, workspaces, &need))
        need = INT64_MAX;
    if (need <= left)
        return MO_OK;
    return mo_fail(err, MO_E_MEMORY,
                   "device '%.80s' needs %" PRId64 " bytes for values, "
                   "%" PRId64 " for weights and %" PRId64 " to work in, and of "
                   "its %" PRId64 " bytes %" PRId64 " are free; place less "
                   "there",
                   planned->id, planned->arena_bytes, weights, workspaces,
                   total, left);
}

static mo_status take_memory(mo_run_device *d, const mo_run_weights *weights,
                             const int64_t *workspaces, mo_error *err)
{
    void *memory = NULL;
    mo_status status;

    status = mo_run_alloc_device_memory(
        d, d->plan->devices[d->device].arena_bytes, &memory, err);
    d->memory = memory;
    if (status == MO_OK && d->backend->apart) {
        status = mo_run_alloc_device_memory(d, weights->bytes, &memory, err);
        d->weights = memory;
    }
    for (int i = 0; i < MO_PLAN_MAX_STREAMS && status == MO_OK; i++)
        if (i == 0 || workspaces[i] > 0)
            status = mo_run_alloc_device_memory(d, workspaces[i],
                                                &d->workspaces[i], err);
    return status;
}

/* ------------------------------------------------------------------- places */

static void place_values(mo_run_device *d)
{
    const mo_exec_plan *plan = d->plan;

    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *value = &plan->values[v];

        if (value->device != d->device || value->view_of != MO_PLAN_NONE ||
            value->constant)
            continue;
        if (value->offset != MO_PLAN_NONE && d->memory)
            d->where[v] = d->memory + value->offset;
    }
}

/* A kernel that is given a constant does not write to it. */
static void place_constants(mo_run_device *d)
{
    for (int v = 0; v < d->plan->n_values; v++)
        if (d->plan->values[v].constant && d->constants[v])
            memcpy(&d->where[v], &d->constants[v], sizeof d->where[v]);
}

static void place_views(mo_run_device *d)
{
    for (int v = 0; v < d->plan->n_values; v++)
        d->where[v] = d->where[mo_plan_value_root(d->plan->values, v)];
}

/* Kernels are settled: what is needed is known, and where everything is. */
static mo_status place(mo_run_device *d, mo_error *err)
{
    int64_t workspaces[MO_PLAN_MAX_STREAMS];
    mo_run_weights weights = { 0 };
    mo_status status = MO_OK;

    mo_run_workspace_bytes(d, workspaces);
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        d->workspace_bytes += workspaces[i];
    if (d->backend->apart)
        status = mo_run_collect_weights(d, &weights, err);
    if (status == MO_OK)
        status = check_memory(d, weights.bytes, d->workspace_bytes, err);
    if (status == MO_OK)
        status = take_memory(d, &weights, workspaces, err);
    if (status != MO_OK)
        return status;
    place_values(d);
    if (d->backend->apart)
        status = mo_run_upload_weights(d, &weights, err);
    else
        place_constants(d);
    place_views(d);
    mo_run_bind_operands(d);
    return status;
}

/* -------------------------------------------------------- opening and ending
 */

/* Touched before the first run, so that no page is missing in a timed one. */
static mo_status make_stamps(mo_run_device *d, mo_error *err)
{
    size_t row = mo_run_timestamp_count(d->n_actions), count;

    if (!mo_size_mul(row, (size_t) d->options->runs, &count) ||
        count > SIZE_MAX / sizeof *d->stamps)
        return mo_fail_memory(err);
    d->stamps = malloc(count * sizeof *d->stamps);
    d->warm_up_stamps = calloc(row, sizeof *d->warm_up_stamps);
    if (!d->stamps || !d->warm_up_stamps)
        return mo_fail_memory(err);
    memset(d->stamps, 0, count * sizeof *d->stamps);
    return MO_OK;
}

static mo_status make_room(mo_run_device *d, mo_error *err)
{
    size_t n = (size_t) d->plan->n_values + 1;

    d->where = calloc(n, sizeof *d->where);
    d->constants = calloc(n, sizeof *d->constants);
    d->inputs = calloc(n, sizeof *d->inputs);
    d->copies = calloc(2 * n, sizeof *d->copies);
    d->unit_copies = calloc(2 * n, sizeof *d->unit_copies);
    d->fetched = calloc(n, sizeof *d->fetched);
    d->arena = mo_arena_new();
    return d->where && d->constants && d->inputs && d->copies &&
                   d->unit_copies && d->fetched && d->arena
               ? MO_OK
               : mo_fail_memory(err);
}

/* What there is besides where memory is apart. */
static mo_status bridge(mo_run_device *d, mo_error *err)
{
    mo_status status = mo_run_alloc_staging(d, err);

    if (status == MO_OK)
        status = mo_run_partition_programs(d, err);
    if (status == MO_OK && d->backend->kept)
        d->allocated_bytes += d->backend->kept(d->unit);
    return status;
}

mo_status mo_run_device_open(mo_run_device *device, mo_error *err)
{
    mo_run_device *d = device;
    mo_status status;

    if (d->device == MO_PLAN_NONE)
        return make_stamps(d, err);
    d->told_ns = mo_stop_clock_ns();
    d->backend = d->options->backends[d->device];
    status = d->backend->open(&d->options->units[d->device], &d->unit, err);
    if (status != MO_OK)
        return status;
    mo_run_report_progress(d, "opened");
    status = make_room(d, err);
    if (status == MO_OK)
        status = mo_run_bind_constants(d, err);
    if (status == MO_OK)
        status = mo_run_prepare_kernels(d, err);
    if (status == MO_OK)
        status = place(d, err);
    if (status == MO_OK)
        status = mo_run_bind_inputs(d, err);
    if (status == MO_OK && d->backend->apart)
        status = bridge(d, err);
    if (status == MO_OK)
        status = make_stamps(d, err);
    if (status == MO_OK)
        mo_run_report_progress(d, "given its constants");
    return status;
}

static void release(const mo_run_device *d, void *memory)
{
    if (memory)
        d->backend->release(d->unit, memory);
}

/* All that belongs to the unit. */
static void close_unit(mo_run_device *d)
{
    /* An error here would only hide what went wrong before. */
    if (d->backend->enter)
        (void) d->backend->enter(d->unit, NULL);
    mo_run_free_programs(d);
    for (int i = 0; i < d->n_actions; i++)
        if (d->actions[i].kernel)
            d->backend->drop(d->unit, d->actions[i].kernel);
    for (int i = 0; i < d->n_unit_copies; i++)
        release(d, d->unit_copies[i]);
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        release(d, d->workspaces[i]);
    release(d, d->weights);
    release(d, d->memory);
    if (d->staging)
        d->backend->release_near(d->unit, d->staging);
    d->backend->close(d->unit);
}

void mo_run_device_close(mo_run_device *device)
{
    mo_run_device *d = device;

    if (d->unit)
        close_unit(d);
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
    free(d->by_itself);
    free(d->stamps);
    free(d->warm_up_stamps);
}

int64_t *mo_run_device_timestamps(const mo_run_device *device, int r)
{
    return device->stamps +
           (size_t) r * mo_run_timestamp_count(device->n_actions);
}
