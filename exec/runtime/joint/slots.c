/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/joint/slots.h"

#include <string.h>

#include "exec/runtime/joint/slots_internal.h"

void *mo_joint_slots_input(const mo_joint_slots *slots, int slot, int value)
{
    return slots->input_at[value] >= 0
               ? slots->slots[slot].staging + slots->input_at[value]
               : NULL;
}

const void *mo_joint_slots_output(const mo_joint_slots *slots, int slot,
                                  int output)
{
    return slots->output_at[output] >= 0
               ? slots->slots[slot].staging + slots->output_at[output]
               : NULL;
}

/* When the other end of a carrier's transfer has failed, the monitor ends what
 * the queue waits for. */
static mo_status wait_queue(mo_joint_slots *s, mo_joint_slot *slot,
                            mo_error *err)
{
    mo_error failure = { 0 }, *e = err ? err : &failure;
    mo_status status = s->backend->queue_wait(slot->queue, e);
    mo_status polled = mo_joint_poll_carriers(&s->slots[0].joint, &failure);

    if (polled == MO_OK)
        return status;
    *e = failure;
    return polled;
}

static mo_status upload_inputs(mo_joint_slots *s, mo_joint_slot *slot,
                               mo_error *err)
{
    const mo_exec_plan *plan = s->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        int i = mo_joint_slots_holder(s, v);

        if (s->input_at[v] >= 0)
            status = s->backend->queue_upload(
                slot->queue, slot->devices[i].where[v],
                slot->staging + s->input_at[v],
                (size_t) mo_joint_value_bytes(plan, v), err);
    }
    return status;
}

/* A step of a transfer through host memory, by the transport. */
static mo_status run_host_step(mo_joint_slots *s, mo_joint_slot *slot,
                               const mo_joint_item *item, mo_error *err)
{
    const mo_run_action *a = &slot->devices[item->local].actions[item->action];
    const mo_transport *transport = s->options.transport;
    mo_transport_world *world = s->options.world;
    int t = slot->first_transfer + a->what;
    mo_status status;

    if (a->kind == MO_PLAN_STEP_RECEIVE)
        return transport->receive(world, t, a->data, err);
    if (a->kind == MO_PLAN_STEP_AWAIT) {
        /* Other ranks may wait for what the programs before transfer, and a
         * driver may make progress only while a thread waits for it. */
        status = wait_queue(s, slot, err);
        if (status == MO_OK)
            status = transport->wait(world, t, a->sending, err);
        if (status != MO_OK || a->sending || a->bytes == 0)
            return status;
        return s->backend->queue_upload(slot->queue, a->value, a->data,
                                        a->bytes, err);
    }
    status = s->backend->queue_download(slot->queue, a->data, a->value,
                                        a->bytes, err);
    if (status == MO_OK)
        status = wait_queue(s, slot, err);
    return status == MO_OK ? transport->send(world, t, a->data, err) : status;
}

static mo_status run_segments(mo_joint_slots *s, mo_joint_slot *slot,
                              mo_error *err)
{
    const mo_joint_state *j = &slot->joint;
    mo_status status = MO_OK;

    for (int i = 0; i < j->n_segments && status == MO_OK; i++) {
        const mo_joint_segment *segment = &j->segments[i];

        if (segment->is_host)
            status = run_host_step(s, slot, &j->items[segment->first], err);
        else if (segment->recorded)
            status =
                s->backend->queue_replay(slot->queue, segment->recorded, err);
    }
    return status;
}

static mo_status download_outputs(mo_joint_slots *s, mo_joint_slot *slot,
                                  mo_error *err)
{
    const mo_exec_plan *plan = s->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        int v = plan->outputs[i].value, d = mo_joint_slots_holder(s, v);
        size_t bytes = (size_t) mo_joint_value_bytes(plan, v);

        if (s->output_at[i] < 0)
            continue;
        if (slot->devices[d].constants[v])
            memcpy(slot->staging + s->output_at[i],
                   slot->devices[d].constants[v], bytes);
        else
            status = s->backend->queue_download(
                slot->queue, slot->staging + s->output_at[i],
                slot->devices[d].where[v], bytes, err);
    }
    return status == MO_OK ? wait_queue(s, slot, err) : status;
}

mo_status mo_joint_slots_run(mo_joint_slots *slots, int slot, mo_error *err)
{
    mo_joint_slot *own = &slots->slots[slot];
    const mo_joint_state *first = &slots->slots[0].joint;
    mo_status status;

    for (int i = 0; i < first->n_carriers; i++)
        if (first->carriers[i]->restart)
            first->carriers[i]->restart(first->carriers[i]);
    status = upload_inputs(slots, own, err);
    if (status == MO_OK)
        status = run_segments(slots, own, err);
    return status == MO_OK ? download_outputs(slots, own, err) : status;
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
