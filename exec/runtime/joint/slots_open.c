/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, measures, records and closes the slots of joint devices. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/runtime/joint/slots_internal.h"
#include "exec/thread/worker.h"

enum { MEASURED_RUNS = 5, STAGING_ALIGN = 256 };

int mo_joint_slots_select(const mo_exec_plan *plan,
                          const mo_run_plan_options *options, bool *chosen)
{
    int n = mo_joint_select_devices(plan, options, chosen);

    for (int d = 0; d < plan->n_devices; d++)
        if (chosen[d] && !options->backends[d]->queue_open) {
            chosen[d] = false;
            n--;
        }
    return n;
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
    for (int v = 0; v < plan->n_values; v++) {
        bool here = inputs[v] && mo_joint_slots_holder(s, v) != MO_JOINT_NONE;

        s->input_at[v] = here ? reserve(s, mo_joint_value_bytes(plan, v)) : -1;
    }
    for (int i = 0; i < plan->n_outputs; i++) {
        int v = plan->outputs[i].value;
        bool here = mo_joint_slots_holder(s, v) != MO_JOINT_NONE;

        s->output_at[i] = here ? reserve(s, mo_joint_value_bytes(plan, v)) : -1;
    }
    return MO_OK;
}

static mo_status alloc_slot(mo_joint_slots *s, mo_joint_slot *slot,
                            mo_error *err)
{
    size_t n = (size_t) s->n_local;

    slot->devices = calloc(n + 1, sizeof *slot->devices);
    slot->local = calloc(n + 1, sizeof *slot->local);
    if (!slot->devices || !slot->local)
        return mo_fail_memory(err);
    for (size_t d = 0; d < n; d++)
        slot->local[d] = &slot->devices[d];
    slot->joint = (mo_joint_state){ .plan = s->plan,
                                    .options = &s->options,
                                    .backend = s->backend,
                                    .devices = slot->local,
                                    .n_local = (int) n,
                                    .n_slots = s->n_slots,
                                    .eager_reason = slot->eager_reason };
    return MO_OK;
}

static mo_status open_first(mo_joint_slots *s, mo_error *err)
{
    mo_joint_slot *slot = &s->slots[0];

    for (int i = 0; i < s->n_local; i++)
        slot->devices[i] = (mo_run_device){ .plan = s->plan,
                                            .options = &s->options,
                                            .device = s->device_of[i] };
    return mo_joint_open(&slot->joint, err);
}

/* Another slot: the values of the devices that are open. */
static mo_status open_other(mo_joint_slots *s, mo_joint_slot *slot,
                            mo_error *err)
{
    const mo_joint_slot *first = &s->slots[0];
    mo_joint_state *j = &slot->joint;
    mo_status status;

    /* alloc_state() numbers the devices. */
    for (int i = 0; i < s->n_local; i++)
        slot->devices[i].device = s->device_of[i];
    status = mo_joint_alloc_state(j, err);
    if (status != MO_OK)
        return status;
    memcpy(j->carried, first->joint.carried,
           (size_t) s->plan->n_transfers * sizeof *j->carried);
    for (int i = 0; i < s->n_local && status == MO_OK; i++) {
        slot->devices[i] = (mo_run_device){ .carried = j->carried };
        status = mo_joint_activate_unit(&s->slots[0].joint, i, err);
        if (status == MO_OK)
            status = mo_run_device_open_slot(&first->devices[i], 0,
                                             &slot->devices[i], err);
        j->units[s->device_of[i]] = first->devices[i].unit;
    }
    if (status == MO_OK)
        status = mo_joint_linearize(j, err);
    if (status == MO_OK)
        status = mo_joint_find_dependencies(j, err);
    /* From here on only carriers read the numbers of transfers. */
    for (int i = 0; i < j->n_items && status == MO_OK; i++)
        j->items[i].transfer.id += slot->first_transfer;
    return status;
}

static mo_status open_queue(mo_joint_slots *s, mo_joint_slot *slot,
                            mo_error *err)
{
    mo_backend_unit **units = calloc((size_t) s->n_local, sizeof *units);
    void *staging = NULL;
    mo_status status = units ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < s->n_local && status == MO_OK; i++)
        units[i] = s->slots[0].devices[i].unit;
    if (status == MO_OK)
        status = s->backend->queue_open(units, s->n_local, &slot->queue, err);
    free(units);
    if (status == MO_OK)
        status = s->backend->alloc_pinned(
            s->slots[0].devices[MO_JOINT_SLOTS_RECORDER].unit,
            (size_t) s->staging_bytes + 1, &staging, err);
    slot->staging = staging;
    return status;
}

/* Inputs of zeros: indices among them are valid. */
static mo_status run_eagerly(mo_joint_slots *s, mo_error *err)
{
    mo_joint_slot *first = &s->slots[0];
    const mo_exec_plan *plan = s->plan;
    mo_status status = MO_OK;

    memset(first->staging, 0, (size_t) s->staging_bytes);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        int i = mo_joint_slots_holder(s, v);

        if (s->input_at[v] < 0)
            continue;
        status = mo_joint_activate_unit(&first->joint, i, err);
        if (status == MO_OK)
            status = s->backend->upload(
                first->devices[i].unit, first->devices[i].where[v],
                first->staging, (size_t) mo_joint_value_bytes(plan, v), err);
    }
    return status == MO_OK ? mo_joint_warm_up(&first->joint, err) : status;
}

static mo_status measure_device(mo_joint_slots *s, int local, mo_error *err)
{
    mo_joint_slot *first = &s->slots[0];
    const mo_run_device *last = &s->slots[s->n_slots - 1].devices[local];
    mo_run_device *d = &first->devices[local];
    mo_joint_slots_device *measured = &s->measured[local];
    mo_status status = mo_joint_activate_unit(&first->joint, local, err);

    d->n_runs = MEASURED_RUNS;
    if (status == MO_OK)
        status = mo_run_time_calls(d, err);
    for (int i = 0; i < d->n_actions && status == MO_OK; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            measured->load_ns += d->isolated_ns[i];
    measured->slot_bytes = last->slot_bytes;
    if (!last->shares_unit)
        measured->slot_bytes += last->workspace_bytes;
    measured->shared_bytes =
        d->allocated_bytes - d->slot_bytes - d->workspace_bytes;
    return status;
}

static mo_status record_slots(mo_joint_slots *s, mo_error *err)
{
    mo_status status = MO_OK;
    mo_error why = { 0 };

    if (*s->slots[0].eager_reason)
        status = mo_fail(&why, MO_E_SUPPORT, "%s", s->slots[0].eager_reason);
    for (int i = 0; i < s->n_slots && status == MO_OK; i++) {
        for (int d = 0; d < s->n_local; d++)
            s->backend->use_slot(s->slots[0].devices[d].unit, i);
        status = mo_joint_record_programs(&s->slots[i].joint, &why);
    }
    for (int d = 0; d < s->n_local; d++)
        s->backend->use_slot(s->slots[0].devices[d].unit, 0);
    if (status == MO_OK)
        return MO_OK;
    if (status == MO_E_MEMORY || status == MO_E_IO)
        return mo_fail(err, status, "%s", why.text);
    return mo_fail(err, MO_E_SUPPORT,
                   "several requests at once need recorded programs: %.800s",
                   why.text);
}

static void *poll_carriers(void *context)
{
    static const struct timespec interval = { 0, 1000000 };
    mo_joint_slots *s = context;

    while (!atomic_load(&s->stops_monitor) &&
           mo_joint_poll_carriers(&s->slots[0].joint, NULL) == MO_OK)
        nanosleep(&interval, NULL);
    return NULL;
}

static mo_status start_monitor(mo_joint_slots *s, mo_error *err)
{
    int failed = 0;

    if (s->slots[0].joint.n_carriers == 0)
        return MO_OK;
    failed = pthread_create(&s->monitor, NULL, poll_carriers, s);
    s->has_monitor = failed == 0;
    return failed == 0 ? MO_OK : mo_thread_fail_start(failed, err);
}

static void stop_monitor(mo_joint_slots *s)
{
    if (!s->has_monitor)
        return;
    atomic_store(&s->stops_monitor, true);
    pthread_join(s->monitor, NULL);
    s->has_monitor = false;
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
            status = open_queue(s, &s->slots[i], err);
    }
    if (status == MO_OK)
        status = run_eagerly(s, err);
    for (int i = 0; i < s->n_local && status == MO_OK; i++)
        status = measure_device(s, i, err);
    if (status == MO_OK && s->call_loads)
        status = mo_joint_slots_time_calls(s, s->call_loads, err);
    if (status == MO_OK)
        status = record_slots(s, err);
    return status == MO_OK ? start_monitor(s, err) : status;
}

static mo_status alloc_slots(mo_joint_slots *s,
                             const mo_joint_slots_options *options,
                             mo_error *err)
{
    size_t n = (size_t) s->plan->n_devices + 1;

    s->slots = calloc((size_t) s->n_slots, sizeof *s->slots);
    s->units = calloc(n, sizeof *s->units);
    s->device_of = calloc(n, sizeof *s->device_of);
    s->local_of = calloc(n, sizeof *s->local_of);
    s->measured = calloc(n, sizeof *s->measured);
    if (options->time_calls)
        s->call_loads =
            calloc((size_t) s->plan->n_calls + 1, sizeof *s->call_loads);
    if (!s->slots || !s->units || !s->device_of || !s->local_of ||
        !s->measured || (options->time_calls && !s->call_loads))
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_slots; i++)
        s->slots[i].first_transfer = i * options->n_slot_transfers;
    for (int d = 0; d < s->plan->n_devices; d++) {
        s->units[d] = options->run->units[d];
        s->units[d].n_slots = s->n_slots;
        s->local_of[d] = MO_JOINT_NONE;
        if (!options->chosen[d])
            continue;
        s->backend = options->run->backends[d];
        s->local_of[d] = s->n_local;
        s->device_of[s->n_local++] = d;
    }
    s->options.units = s->units;
    return MO_OK;
}

mo_status mo_joint_slots_new(const mo_exec_plan *plan,
                             const mo_joint_slots_options *options,
                             mo_joint_slots **slots, mo_error *err)
{
    mo_joint_slots *s = calloc(1, sizeof *s);
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->plan = plan;
    s->options = *options->run;
    s->options.n_slots = options->n_slots;
    s->n_slots = options->n_slots;
    status = alloc_slots(s, options, err);
    if (status == MO_OK)
        status = open_slots(s, options->inputs, err);
    if (status == MO_OK)
        *slots = s;
    else
        mo_joint_slots_free(s);
    return status;
}

/* The devices of slot 0 are closed last: they own the units. */
static void close_slot(mo_joint_slots *s, mo_joint_slot *slot)
{
    mo_run_device *recorder = s->slots[0].devices;

    if (slot->queue)
        s->backend->queue_close(slot->queue);
    mo_joint_free_programs(&slot->joint);
    if (slot->staging)
        s->backend->free_pinned(recorder[MO_JOINT_SLOTS_RECORDER].unit,
                                slot->staging);
    for (int i = 0; slot->devices && i < s->n_local; i++)
        if (slot->devices[i].plan)
            mo_run_device_close(&slot->devices[i]);
    mo_arena_free(slot->joint.arena);
    free(slot->devices);
    free(slot->local);
}

void mo_joint_slots_free(mo_joint_slots *slots)
{
    if (!slots)
        return;
    stop_monitor(slots);
    for (int i = slots->n_slots - 1; slots->slots && i >= 0; i--)
        close_slot(slots, &slots->slots[i]);
    free(slots->slots);
    free(slots->units);
    free(slots->device_of);
    free(slots->local_of);
    free(slots->measured);
    free(slots->call_loads);
    free(slots->input_at);
    free(slots->output_at);
    free(slots);
}

void mo_joint_slots_free_programs(mo_joint_slots *slots)
{
    stop_monitor(slots);
    for (int i = 0; i < slots->n_slots; i++)
        mo_joint_free_programs(&slots->slots[i].joint);
}
