/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/joint/slots.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/runtime/joint/slots_internal.h"
#include "exec/thread/worker.h"

enum { MEASURED_RUNS = 5, STAGING_ALIGN = 256 };

static size_t value_bytes(const mo_joint_slots *s, int v)
{
    return (size_t) mo_tensor_desc_bytes(&s->plan->values[v].desc);
}

/* Returns the local device that has the value, or MO_JOINT_NONE. */
static int holder(const mo_joint_slots *s, int value)
{
    return s->local_of[s->plan->values[value].device];
}

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

/* Returns an offset in staging for the bytes of a value, or -1: it is not of
 * these devices. */
static int64_t reserve(mo_joint_slots *s, int v)
{
    int64_t at = s->staging_bytes;

    if (holder(s, v) == MO_JOINT_NONE)
        return -1;
    s->staging_bytes += ((int64_t) value_bytes(s, v) + STAGING_ALIGN - 1) /
                        STAGING_ALIGN * STAGING_ALIGN;
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
        s->input_at[v] = inputs[v] ? reserve(s, v) : -1;
    for (int i = 0; i < plan->n_outputs; i++)
        s->output_at[i] =
            plan->outputs[i].state ? -1 : reserve(s, plan->outputs[i].value);
    return MO_OK;
}

/* Another slot: the values of the devices that are open. */
static mo_status open_other(mo_joint_slots *s, mo_joint_slot *slot,
                            mo_error *err)
{
    mo_joint_slot *first = &s->slots[0];
    mo_joint_state *j = &slot->joint;
    mo_status status = mo_joint_alloc_state(j, err);

    if (status != MO_OK)
        return status;
    memcpy(j->carried, first->joint.carried,
           (size_t) s->plan->n_transfers * sizeof *j->carried);
    j->carriers = first->joint.carriers;
    j->n_carriers = first->joint.n_carriers;
    for (int i = 0; i < s->n_local && status == MO_OK; i++) {
        slot->devices[i] = (mo_run_device){ .carried = j->carried };
        status = mo_joint_activate_unit(&first->joint, i, err);
        if (status == MO_OK)
            status = mo_run_device_open_slot(&first->devices[i],
                                             &slot->devices[i], err);
        j->units[s->device_of[i]] = first->devices[i].unit;
    }
    if (status == MO_OK)
        status = mo_joint_merge_steps(j, err);
    /* From here on only carriers read the numbers of transfers. */
    for (int i = 0; i < j->n_items && status == MO_OK; i++)
        j->items[i].transfer.id += j->first_transfer;
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
        status =
            s->backend->queue_open(units, s->n_local, &slot->joint.queue, err);
    if (status == MO_OK)
        status = s->backend->alloc_pinned(units[MO_JOINT_RECORDER],
                                          (size_t) s->staging_bytes + 1,
                                          &staging, err);
    free(units);
    slot->staging = staging;
    return status;
}

/* Inputs of zeros: indices among them are valid. */
static mo_status run_phase_eagerly(mo_joint_slots *s, int phase, mo_error *err)
{
    mo_joint_slot *first = &s->slots[0];
    const mo_exec_plan *plan = s->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        int i = holder(s, v);

        if (s->input_at[v] < 0 || MO_PLAN_PHASE_OF(plan, value, v) != phase)
            continue;
        status = mo_joint_activate_unit(&first->joint, i, err);
        if (status == MO_OK)
            status = s->backend->upload(first->devices[i].unit,
                                        first->devices[i].where[v],
                                        first->staging, value_bytes(s, v), err);
    }
    return status == MO_OK ? mo_joint_warm_up(&first->joint, phase, err)
                           : status;
}

/* Phases share memory: each has its inputs right before it runs. */
static mo_status run_eagerly(mo_joint_slots *s, mo_error *err)
{
    mo_status status = MO_OK;

    memset(s->slots[0].staging, 0, (size_t) s->staging_bytes);
    for (int p = 0; p == 0 || p < s->plan->n_phases; p++)
        if (status == MO_OK)
            status = run_phase_eagerly(s, p, err);
    return status;
}

/* Bytes of a device, and its load where memory is separate. */
static mo_status measure_device(mo_joint_slots *s, int local, mo_error *err)
{
    mo_joint_slot *first = &s->slots[0];
    const mo_run_device *last = &s->slots[s->n_slots - 1].devices[local];
    mo_run_device *d = &first->devices[local];
    mo_joint_slots_device *measured = &s->measured[local];
    mo_status status;

    measured->slot_bytes = last->slot_bytes;
    measured->shared_bytes = d->allocated_bytes - d->slot_bytes;
    if (!s->backend->separate_memory)
        return MO_OK;
    measured->shared_bytes -= d->workspace_bytes;
    if (!last->shares_unit)
        measured->slot_bytes += last->workspace_bytes;
    status = mo_joint_activate_unit(&first->joint, local, err);
    d->n_runs = MEASURED_RUNS;
    if (status == MO_OK)
        status = mo_joint_time_calls(&first->joint, local, err);
    for (int i = 0; i < d->n_actions && status == MO_OK; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            measured->load_ns += d->isolated_ns[i];
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

static void stop_monitor(mo_joint_slots *s)
{
    if (!s->has_monitor)
        return;
    atomic_store(&s->stops_monitor, true);
    pthread_join(s->monitor, NULL);
    s->has_monitor = false;
}

/* States begin as zeros; what was run until here has changed them. */
static mo_status clear_states(mo_joint_slots *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < s->n_slots; i++)
        for (int d = 0; d < s->n_local && status == MO_OK; d++) {
            const mo_run_device *device = &s->slots[i].devices[d];
            size_t bytes =
                (size_t) s->plan->devices[device->device].state_bytes;
            void *zeros = bytes > 0 ? calloc(bytes, 1) : NULL;

            if (bytes > 0 && !zeros)
                return mo_fail_memory(err);
            if (bytes > 0 && s->backend->separate_memory) {
                status = mo_joint_activate_unit(&s->slots[0].joint, d, err);
                if (status == MO_OK)
                    status = s->backend->upload(device->unit, device->memory,
                                                zeros, bytes, err);
            } else if (bytes > 0)
                memset(device->memory, 0, bytes);
            free(zeros);
        }
    return status;
}

static mo_status open_slots(mo_joint_slots *s,
                            const mo_joint_slots_options *options,
                            mo_error *err)
{
    bool separate = s->backend->separate_memory;
    mo_status status = plan_staging(s, options->inputs, err);

    if (status == MO_OK && !separate)
        status = mo_joint_gate_init(&s->gate, s->n_slots, err);
    for (int i = 0; i < s->n_slots && status == MO_OK; i++) {
        mo_joint_slot *slot = &s->slots[i];
        size_t n = (size_t) s->n_local;

        slot->devices = calloc(n + 1, sizeof *slot->devices);
        slot->local = calloc(n + 1, sizeof *slot->local);
        if (!slot->devices || !slot->local)
            status = mo_fail_memory(err);
        else {
            for (size_t d = 0; d < n; d++) {
                slot->local[d] = &slot->devices[d];
                slot->devices[d].device = s->device_of[d];
                if (i > 0)
                    continue;
                slot->devices[d].plan = s->plan;
                slot->devices[d].options = &s->options;
            }
            slot->joint =
                (mo_joint_state){ .plan = s->plan,
                                  .options = &s->options,
                                  .backend = s->backend,
                                  .devices = slot->local,
                                  .n_local = (int) n,
                                  .eager_reason = slot->eager_reason,
                                  .n_slots = options->n_all_slots,
                                  .slot = i,
                                  .first_transfer = (options->first_slot + i) *
                                                    options->n_slot_transfers };
            if (!s->backend->separate_memory)
                slot->joint.gate = &s->gate;
        }
        if (status == MO_OK)
            status = i == 0 ? mo_joint_open(&s->slots[0].joint, err)
                            : open_other(s, &s->slots[i], err);
        if (status == MO_OK && separate)
            status = open_queue(s, &s->slots[i], err);
    }
    if (status == MO_OK && separate)
        status = run_eagerly(s, err);
    for (int i = 0; i < s->n_local && status == MO_OK; i++)
        status = measure_device(s, i, err);
    if (status == MO_OK && s->call_loads)
        status = mo_joint_slots_time_calls(s, s->call_loads, err);
    if (status == MO_OK && separate)
        status = record_slots(s, err);
    if (status == MO_OK)
        status = clear_states(s, err);
    if (status == MO_OK && s->slots[0].joint.n_carriers > 0) {
        int failed = pthread_create(&s->monitor, NULL, poll_carriers, s);

        s->has_monitor = failed == 0;
        if (failed != 0)
            status = mo_thread_fail_start(failed, err);
    }
    return status;
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
        status = mo_fail_memory(err);
    else {
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
        status = MO_OK;
    }
    if (status == MO_OK)
        status = open_slots(s, options, err);
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

    if (slot->joint.queue)
        s->backend->queue_close(slot->joint.queue);
    mo_joint_free_programs(&slot->joint);
    if (slot->staging)
        s->backend->free_pinned(recorder[MO_JOINT_RECORDER].unit,
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
    mo_joint_gate_destroy(&slots->gate);
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

/* Without separate memory the values themselves. */
void *mo_joint_slots_input(const mo_joint_slots *slots, int slot, int value)
{
    const mo_joint_slot *own = &slots->slots[slot];

    if (slots->input_at[value] < 0)
        return NULL;
    return slots->backend->separate_memory
               ? own->staging + slots->input_at[value]
               : own->devices[holder(slots, value)].where[value];
}

const void *mo_joint_slots_output(const mo_joint_slots *slots, int slot,
                                  int output)
{
    const mo_joint_slot *own = &slots->slots[slot];
    int value = slots->plan->outputs[output].value;

    if (slots->output_at[output] < 0)
        return NULL;
    return slots->backend->separate_memory
               ? own->staging + slots->output_at[output]
               : mo_run_device_output(&own->devices[holder(slots, value)],
                                      value);
}

static mo_status download_outputs(const mo_joint_slots *s, mo_joint_slot *slot,
                                  int phase, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < s->plan->n_outputs && status == MO_OK; i++) {
        int v = s->plan->outputs[i].value;
        const mo_run_device *d;
        char *to = slot->staging + s->output_at[i];

        if (s->output_at[i] < 0 ||
            MO_PLAN_PHASE_OF(s->plan, output, i) != phase)
            continue;
        d = &slot->devices[holder(s, v)];
        if (d->constants[v])
            memcpy(to, d->constants[v], value_bytes(s, v));
        else
            status = s->backend->queue_download(
                slot->joint.queue, to, d->where[v], value_bytes(s, v), err);
    }
    return status == MO_OK ? mo_joint_wait_queue(&slot->joint, err) : status;
}

mo_status mo_joint_slots_run(mo_joint_slots *slots, int slot, int64_t request,
                             int phase, mo_joint_slots_run_result *result,
                             mo_error *err)
{
    mo_joint_slot *own = &slots->slots[slot];
    mo_joint_state *j = &own->joint;
    mo_joint_request r = { .number = request, .phase = phase };
    mo_status status = MO_OK;

    if (!j->queue)
        r.failure = &result->failure;
    for (int i = 0; i < j->n_carriers; i++)
        if (j->carriers[i]->restart)
            j->carriers[i]->restart(j->carriers[i]);
    for (int i = 0; j->queue && i < slots->plan->n_inputs; i++)
        for (int k = 0; k < slots->plan->inputs[i].n_values && status == MO_OK;
             k++) {
            int v = slots->plan->inputs[i].values[k];

            if (slots->input_at[v] >= 0 &&
                MO_PLAN_PHASE_OF(slots->plan, value, v) == phase)
                status = slots->backend->queue_upload(
                    own->joint.queue, own->devices[holder(slots, v)].where[v],
                    own->staging + slots->input_at[v], value_bytes(slots, v),
                    err);
        }
    if (status == MO_OK)
        status = mo_joint_execute(j, &r, err);
    result->busy_ns = r.busy_ns;
    if (status == MO_OK && j->queue)
        status = download_outputs(slots, own, phase, err);
    return status;
}

const int64_t *mo_joint_slots_call_loads(const mo_joint_slots *slots)
{
    return slots->call_loads;
}

const mo_joint_slots_device *
mo_joint_slots_device_of(const mo_joint_slots *slots, int device)
{
    return &slots->measured[slots->local_of[device]];
}
