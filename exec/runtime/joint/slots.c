/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/joint/slots.h"

#include <stdlib.h>
#include <string.h>

#include "exec/runtime/joint/joint_internal.h"

enum { RECORDER = 0, MEASURED_RUNS = 5, STAGING_ALIGN = 256 };

/* One slot: its devices, in the order of the plan, and their program. */
typedef struct slot_state {
    mo_run_device *devices;
    mo_run_device **local; /* pointers to them */
    mo_joint_state joint;
    char eager_reason[MO_RUN_REASON_SIZE];
    mo_backend_queue **queues; /* by device */
    char *staging;             /* pinned: inputs, then outputs */
} slot_state;

struct mo_joint_slots {
    const mo_exec_plan *plan;
    mo_run_plan_options options; /* with units of n_slots */
    mo_backend_unit_options *units;
    const mo_backend *backend;
    slot_state *slots;
    int n_slots;
    int64_t *input_at;  /* by value: its offset in staging, or -1 */
    int64_t *output_at; /* by output */
    int64_t staging_bytes;
};

bool mo_joint_slots_apply(const mo_exec_plan *plan,
                          const mo_run_plan_options *options)
{
    const mo_backend *backend =
        plan->n_devices > 0 ? options->backends[0] : NULL;
    int rank = options->transport->rank(options->world);

    for (int d = 0; d < plan->n_devices; d++)
        if (options->backends[d] != backend || options->rank_of[d] != rank)
            return false;
    return backend && backend->separate_memory && backend->queue_open &&
           backend->transfer && backend->is_idle;
}

/* --------------------------------------------------------------- opening */

static int64_t value_bytes(const mo_exec_plan *plan, int v)
{
    return mo_tensor_desc_bytes(&plan->values[v].desc);
}

static int64_t reserve(mo_joint_slots *s, int64_t bytes)
{
    int64_t at = s->staging_bytes;

    s->staging_bytes +=
        (bytes + STAGING_ALIGN - 1) / STAGING_ALIGN * STAGING_ALIGN;
    return at;
}

static mo_status plan_staging(mo_joint_slots *s, const bool *inputs,
                              mo_error *err)
{
    const mo_exec_plan *plan = s->plan;

    s->input_at = calloc((size_t) plan->n_values + 1, sizeof *s->input_at);
    s->output_at = calloc((size_t) plan->n_outputs + 1, sizeof *s->output_at);
    if (!s->input_at || !s->output_at)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        s->input_at[v] = inputs[v] ? reserve(s, value_bytes(plan, v)) : -1;
    for (int i = 0; i < plan->n_outputs; i++)
        s->output_at[i] = reserve(s, value_bytes(plan, plan->outputs[i].value));
    return MO_OK;
}

static mo_status alloc_slot(mo_joint_slots *s, slot_state *slot, mo_error *err)
{
    size_t n = (size_t) s->plan->n_devices;

    slot->devices = calloc(n + 1, sizeof *slot->devices);
    slot->local = calloc(n + 1, sizeof *slot->local);
    slot->queues = calloc(n + 1, sizeof *slot->queues);
    if (!slot->devices || !slot->local || !slot->queues)
        return mo_fail_memory(err);
    for (size_t d = 0; d < n; d++)
        slot->local[d] = &slot->devices[d];
    slot->joint = (mo_joint_state){ .plan = s->plan,
                                    .options = &s->options,
                                    .backend = s->backend,
                                    .devices = slot->local,
                                    .n_local = (int) n,
                                    .eager_reason = slot->eager_reason };
    return MO_OK;
}

static mo_status open_first(mo_joint_slots *s, mo_error *err)
{
    slot_state *slot = &s->slots[0];

    for (int d = 0; d < s->plan->n_devices; d++)
        slot->devices[d] = (mo_run_device){ .plan = s->plan,
                                            .options = &s->options,
                                            .device = d };
    return mo_joint_open(&slot->joint, err);
}

/* Another slot: the values of the devices that are open. */
static mo_status open_other(mo_joint_slots *s, slot_state *slot, mo_error *err)
{
    const slot_state *first = &s->slots[0];
    mo_joint_state *j = &slot->joint;
    mo_status status;

    /* alloc_state() numbers the devices. */
    for (int d = 0; d < s->plan->n_devices; d++)
        slot->devices[d].device = d;
    status = mo_joint_alloc_state(j, err);
    if (status != MO_OK)
        return status;
    memcpy(j->carried, first->joint.carried,
           (size_t) s->plan->n_transfers * sizeof *j->carried);
    for (int d = 0; d < s->plan->n_devices && status == MO_OK; d++) {
        slot->devices[d] = (mo_run_device){ .carried = j->carried };
        status = mo_joint_activate_unit(&s->slots[0].joint, d, err);
        if (status == MO_OK)
            status = mo_run_device_open_slot(&first->devices[d], 0,
                                             &slot->devices[d], err);
        j->units[d] = first->devices[d].unit;
    }
    if (status == MO_OK)
        status = mo_joint_linearize(j, err);
    return status == MO_OK ? mo_joint_find_dependencies(j, err) : status;
}

static mo_status open_queues(mo_joint_slots *s, slot_state *slot, mo_error *err)
{
    void *staging = NULL;
    mo_status status = MO_OK;

    for (int d = 0; d < s->plan->n_devices && status == MO_OK; d++)
        status = s->backend->queue_open(s->slots[0].devices[d].unit,
                                        &slot->queues[d], err);
    if (status == MO_OK)
        status = s->backend->alloc_pinned(s->slots[0].devices[RECORDER].unit,
                                          (size_t) s->staging_bytes + 1,
                                          &staging, err);
    slot->staging = staging;
    return status;
}

/* ------------------------------------------------------------- recording */

/* Inputs of zeros: indices among them are valid. */
static mo_status run_eagerly(mo_joint_slots *s, mo_error *err)
{
    slot_state *first = &s->slots[0];
    const mo_exec_plan *plan = s->plan;
    int64_t **rows = calloc((size_t) plan->n_devices + 1, sizeof *rows);
    mo_status status = rows ? MO_OK : mo_fail_memory(err);

    for (int d = 0; d < plan->n_devices && rows; d++)
        rows[d] = first->devices[d].warm_up_timestamps;
    memset(first->staging, 0, (size_t) s->staging_bytes);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        int d = plan->values[v].device;

        if (s->input_at[v] < 0)
            continue;
        status = mo_joint_activate_unit(&first->joint, d, err);
        if (status == MO_OK)
            status = s->backend->upload(
                first->devices[d].unit, first->devices[d].where[v],
                first->staging, (size_t) value_bytes(plan, v), err);
    }
    if (status == MO_OK)
        status = mo_joint_execute(&first->joint, rows, err);
    free(rows);
    return status;
}

static mo_status record_slots(mo_joint_slots *s, mo_error *err)
{
    mo_status status = MO_OK;
    mo_error why = { 0 };

    for (int i = 0; i < s->n_slots && status == MO_OK; i++) {
        for (int d = 0; d < s->plan->n_devices; d++)
            s->backend->use_slot(s->slots[0].devices[d].unit, i);
        status = mo_joint_record_programs(&s->slots[i].joint, &why);
    }
    for (int d = 0; d < s->plan->n_devices; d++)
        s->backend->use_slot(s->slots[0].devices[d].unit, 0);
    if (status == MO_OK)
        return MO_OK;
    if (status == MO_E_MEMORY)
        return mo_fail(err, status, "%s", why.text);
    return mo_fail(err, MO_E_SUPPORT,
                   "several requests at once need recorded programs: %.800s",
                   why.text);
}

static mo_status open_slots(mo_joint_slots *s, const bool *inputs,
                            mo_error *err)
{
    mo_status status = plan_staging(s, inputs, err);

    for (int i = 0; i < s->n_slots && status == MO_OK; i++) {
        status = alloc_slot(s, &s->slots[i], err);
        if (status == MO_OK)
            status =
                i == 0 ? open_first(s, err) : open_other(s, &s->slots[i], err);
        if (status == MO_OK)
            status = open_queues(s, &s->slots[i], err);
    }
    if (status == MO_OK)
        status = run_eagerly(s, err);
    return status == MO_OK ? record_slots(s, err) : status;
}

mo_status mo_joint_slots_new(const mo_exec_plan *plan,
                             const mo_run_plan_options *options, int n_slots,
                             const bool *inputs, mo_joint_slots **slots,
                             mo_error *err)
{
    mo_joint_slots *s = calloc(1, sizeof *s);
    size_t n = (size_t) plan->n_devices;
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->plan = plan;
    s->options = *options;
    s->options.n_slots = n_slots;
    s->backend = options->backends[0];
    s->n_slots = n_slots;
    s->slots = calloc((size_t) n_slots, sizeof *s->slots);
    s->units = calloc(n + 1, sizeof *s->units);
    status = s->slots && s->units ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        memcpy(s->units, options->units, n * sizeof *s->units);
        for (size_t d = 0; d < n; d++)
            s->units[d].n_slots = n_slots;
        s->options.units = s->units;
        status = open_slots(s, inputs, err);
    }
    if (status == MO_OK)
        *slots = s;
    else
        mo_joint_slots_free(s);
    return status;
}

/* --------------------------------------------------------------- closing */

/* The devices of slot 0 are closed last: they own the units. */
static void close_slot(mo_joint_slots *s, slot_state *slot)
{
    mo_run_device *recorder = s->slots[0].devices;

    for (int d = 0; slot->queues && d < s->plan->n_devices; d++)
        s->backend->queue_close(slot->queues[d]);
    mo_joint_free_programs(&slot->joint);
    if (slot->staging)
        s->backend->free_pinned(recorder[RECORDER].unit, slot->staging);
    for (int d = 0; slot->devices && d < s->plan->n_devices; d++)
        if (slot->devices[d].plan)
            mo_run_device_close(&slot->devices[d]);
    mo_arena_free(slot->joint.arena);
    free(slot->devices);
    free(slot->local);
    free(slot->queues);
}

void mo_joint_slots_free(mo_joint_slots *slots)
{
    if (!slots)
        return;
    for (int i = slots->n_slots - 1; slots->slots && i >= 0; i--)
        close_slot(slots, &slots->slots[i]);
    free(slots->slots);
    free(slots->units);
    free(slots->input_at);
    free(slots->output_at);
    free(slots);
}

/* --------------------------------------------------------------- running */

static mo_status upload_inputs(mo_joint_slots *s, slot_state *slot,
                               const void *const *inputs, mo_error *err)
{
    const mo_exec_plan *plan = s->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        size_t bytes = (size_t) value_bytes(plan, v);
        int d = plan->values[v].device;

        if (s->input_at[v] < 0 || !inputs[v])
            continue;
        memcpy(slot->staging + s->input_at[v], inputs[v], bytes);
        status = s->backend->queue_upload(
            slot->queues[d], slot->devices[d].where[v],
            slot->staging + s->input_at[v], bytes, err);
    }
    return status;
}

/* The recorder's queue is in order: the host waits for those of the other
 * devices before the program, and for the program before they download. */
static mo_status wait_queues(mo_joint_slots *s, slot_state *slot, int first,
                             mo_error *err)
{
    mo_status status = MO_OK;

    for (int d = first; d < s->plan->n_devices && status == MO_OK; d++)
        status = s->backend->queue_wait(slot->queues[d], err);
    return status;
}

static mo_status download_outputs(mo_joint_slots *s, slot_state *slot,
                                  void *const *outputs, mo_error *err)
{
    const mo_exec_plan *plan = s->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        int v = plan->outputs[i].value, d = plan->values[v].device;
        size_t bytes = (size_t) value_bytes(plan, v);

        if (!outputs[i])
            continue;
        if (slot->devices[d].constants[v])
            memcpy(slot->staging + s->output_at[i],
                   slot->devices[d].constants[v], bytes);
        else
            status = s->backend->queue_download(
                slot->queues[d], slot->staging + s->output_at[i],
                slot->devices[d].where[v], bytes, err);
    }
    return status;
}

mo_status mo_joint_slots_run(mo_joint_slots *slots, int slot,
                             const void *const *inputs, void *const *outputs,
                             mo_error *err)
{
    mo_joint_slots *s = slots;
    slot_state *own = &s->slots[slot];
    mo_status status = upload_inputs(s, own, inputs, err);

    if (status == MO_OK)
        status = wait_queues(s, own, RECORDER + 1, err);
    for (int i = 0; i < own->joint.n_segments && status == MO_OK; i++)
        if (own->joint.segments[i].recorded)
            status = s->backend->queue_replay(
                own->queues[RECORDER], own->joint.segments[i].recorded, err);
    if (status == MO_OK)
        status = s->backend->queue_wait(own->queues[RECORDER], err);
    if (status == MO_OK)
        status = download_outputs(s, own, outputs, err);
    if (status == MO_OK)
        status = wait_queues(s, own, RECORDER, err);
    for (int i = 0; i < s->plan->n_outputs && status == MO_OK; i++)
        if (outputs[i])
            memcpy(outputs[i], own->staging + s->output_at[i],
                   (size_t) value_bytes(s->plan, s->plan->outputs[i].value));
    return status;
}

/* ------------------------------------------------------------- measuring */

mo_status mo_joint_slots_measure(mo_joint_slots *slots, int device,
                                 int64_t *load_ns, mo_error *err)
{
    slot_state *first = &slots->slots[0];
    mo_run_device *d = &first->devices[device];
    mo_status status = mo_joint_activate_unit(&first->joint, device, err);

    *load_ns = 0;
    d->n_runs = MEASURED_RUNS;
    if (status == MO_OK)
        status = mo_run_time_calls(d, err);
    for (int i = 0; i < d->n_actions && status == MO_OK; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            *load_ns += d->isolated_ns[i];
    return status;
}

int64_t mo_joint_slots_bytes(const mo_joint_slots *slots, int device)
{
    const slot_state *last = &slots->slots[slots->n_slots - 1];
    const mo_run_device *d = &last->devices[device];

    return d->shares_unit ? d->slot_bytes : d->slot_bytes + d->workspace_bytes;
}

int64_t mo_joint_slots_shared_bytes(const mo_joint_slots *slots, int device)
{
    const mo_run_device *d = &slots->slots[0].devices[device];

    return d->allocated_bytes - d->slot_bytes - d->workspace_bytes;
}
