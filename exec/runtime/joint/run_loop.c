/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run loop: executes the steps of the devices of a thread for one request.
 *
 * A single run is a request by itself, with timestamps. In a stream of requests
 * each slot runs this loop: GPUs with a queue of the slot's own, so that
 * programs of several requests run at the same time; a CPU with a gate, through
 * which the device is handed from one request to another between calls.
 *
 *     segments   | program | await x | send y | program |      GPUs
 *     launched   |---------------------|      |---------|
 *                                      |
 *                                      the host waits here
 */
#include <stdlib.h>

#include "base/stop.h"
#include "exec/runtime/joint/joint_internal.h"
#include "exec/thread/cpu_pause.h"

enum { POLL_NS = 50000 }; /* interval of polling the carriers */

bool mo_joint_has_separate_memory(const mo_joint_state *j)
{
    return j->backend && j->backend->separate_memory;
}

/* The only unit of a thread is always current. */
static mo_status activate_if_several(mo_joint_state *j, int local,
                                     mo_error *err)
{
    return j->n_local > 1 ? mo_joint_activate_unit(j, local, err) : MO_OK;
}

mo_status mo_joint_poll_carriers(const mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < j->n_carriers && status == MO_OK; i++)
        status = j->carriers[i]->poll(j->carriers[i], err);
    return status;
}

mo_status mo_joint_synchronize(mo_joint_state *j, int local, mo_error *err)
{
    mo_backend_unit *unit = j->devices[local]->unit;
    mo_status status = activate_if_several(j, local, err);

    if (status == MO_OK && j->n_carriers > 0) {
        /* Spin-wait; polls the carriers, since the other end of a transfer may
         * have failed. */
        int64_t polled = mo_stop_clock_ns();
        bool done = false;
        status = j->backend->is_idle(unit, &done, err);

        while (status == MO_OK && !done) {
            mo_thread_pause();
            if (mo_stop_clock_ns() - polled >= POLL_NS) {
                status = mo_joint_poll_carriers(j, err);
                polled = mo_stop_clock_ns();
            }
            if (status == MO_OK)
                status = j->backend->is_idle(unit, &done, err);
        }
    }
    return status == MO_OK ? j->backend->wait(unit, err) : status;
}

/* When the other end of a carrier's transfer has failed, the monitor of the
 * slots ends what the queue waits for. */
mo_status mo_joint_wait_queue(mo_joint_state *j, mo_error *err)
{
    mo_error failure = { 0 }, *e = err ? err : &failure;
    mo_status status = j->backend->queue_wait(j->queue, e);
    mo_status polled = mo_joint_poll_carriers(j, &failure);

    if (polled == MO_OK)
        return status;
    *e = failure;
    return polled;
}

/* Takes the device, or, where the request has it, yields it to older ones. */
static void enter_device(mo_joint_state *j, mo_joint_request *r)
{
    if (r->owns_device) {
        int64_t now = mo_stop_clock_ns();

        if (mo_joint_gate_yield(j->gate, j->slot, r->number)) {
            r->busy_ns += now - r->entered_ns;
            r->entered_ns = mo_stop_clock_ns();
        }
        return;
    }
    mo_joint_gate_enter(j->gate, j->slot, r->number);
    r->owns_device = true;
    r->entered_ns = mo_stop_clock_ns();
}

static void leave_device(mo_joint_state *j, mo_joint_request *r)
{
    if (!r->owns_device)
        return;
    r->busy_ns += mo_stop_clock_ns() - r->entered_ns;
    mo_joint_gate_leave(j->gate);
    r->owns_device = false;
}

/* Runs a call, or enqueues it where memory is separate. */
static mo_status run_call(const mo_run_device *d, const mo_run_action *a,
                          mo_error *err)
{
    void *workspace = d->workspaces[d->plan->calls[a->what].stream];
    mo_status status =
        d->backend->run(d->unit, a->kernel, a->in, a->out, workspace, err);

    if (status != MO_OK)
        mo_run_error_add_op_name(d, a->what, err);
    return status;
}

/* In a stream a failed call is the end of the request, not of the run: its
 * transfers go on, with any bytes, since the other devices wait for them. */
static mo_status run_host_call(mo_joint_state *j, mo_joint_request *r,
                               const mo_run_device *d, const mo_run_action *a,
                               mo_error *err)
{
    mo_error why = { 0 };

    if (r->failure && r->failure->status != MO_OK)
        return MO_OK;
    if (j->gate)
        enter_device(j, r);
    if (!r->failure)
        return run_call(d, a, err);
    if (run_call(d, a, &why) != MO_OK)
        mo_fail(r->failure, why.status, "device '%.80s': %.900s",
                j->plan->devices[d->device].id, why.text);
    return MO_OK;
}

/* A value that is sent is first copied to host memory. */
static mo_status download(mo_joint_state *j, const mo_run_device *d,
                          const mo_run_action *a, mo_error *err)
{
    mo_status status;

    if (!j->queue)
        return j->backend->download(d->unit, a->data, a->value, a->bytes, err);
    status =
        j->backend->queue_download(j->queue, a->data, a->value, a->bytes, err);
    return status == MO_OK ? mo_joint_wait_queue(j, err) : status;
}

static mo_status upload(mo_joint_state *j, const mo_run_device *d,
                        const mo_run_action *a, mo_error *err)
{
    if (!j->queue)
        return j->backend->upload(d->unit, a->value, a->data, a->bytes, err);
    return j->backend->queue_upload(j->queue, a->value, a->data, a->bytes, err);
}

/* A step of the host. */
static mo_status run_step(mo_joint_state *j, mo_joint_request *r,
                          const mo_joint_item *item, mo_error *err)
{
    const mo_run_device *d = j->devices[item->local];
    const mo_run_action *a = &d->actions[item->action];
    const mo_run_plan_options *o = j->options;
    bool is_staged = a->data != a->value && a->bytes > 0;
    mo_status status =
        j->queue ? MO_OK : activate_if_several(j, item->local, err);

    if (status != MO_OK)
        return status;
    switch (a->kind) {
    case MO_PLAN_STEP_COMPUTE:
        return run_host_call(j, r, d, a, err);
    case MO_PLAN_STEP_RECEIVE:
        return o->transport->receive(o->world, j->first_transfer + a->what,
                                     a->data, err);
    case MO_PLAN_STEP_SEND:
        if (is_staged)
            status = download(j, d, a, err);
        if (status == MO_OK)
            status = o->transport->send(o->world, j->first_transfer + a->what,
                                        a->data, err);
        return status;
    case MO_PLAN_STEP_AWAIT:
        break;
    }

    const mo_transport *transport = j->options->transport;
    mo_transport_world *world = j->options->world;
    int t = j->first_transfer + a->what;
    status = MO_OK;

    /* Other requests may have the device, unless there is nothing to wait
     * for. */
    if (r->owns_device &&
        !(transport->is_done && transport->is_done(world, t, a->sending)))
        leave_device(j, r);
    /* Other ranks may wait for what the programs before transfer, and a driver
     * may make progress only while a thread waits for it. */
    if (j->queue)
        status = mo_joint_wait_queue(j, err);
    if (status == MO_OK)
        status = transport->wait(world, t, a->sending, err);
    if (status == MO_OK && is_staged && !a->sending)
        status = upload(j, d, a, err);
    return status;
}

static void set_timestamps(int64_t *row, int action, int64_t begin_ns,
                           int64_t end_ns)
{
    row[mo_run_timestamp_step_begin(action)] = begin_ns;
    row[mo_run_timestamp_step_end(action)] = end_ns;
}

/* At end_ns the first n segments are complete: all steps of a launched one get
 * the timestamps of the segment. */
static void complete_segments(const mo_joint_state *j, mo_joint_request *r,
                              int n, int64_t end_ns)
{
    for (int p = r->n_complete; p < n && r->rows; p++) {
        const mo_joint_segment *segment = &j->segments[p];

        for (int i = segment->first;
             i < segment->first + segment->n && !segment->is_host; i++) {
            const mo_joint_item *item = &j->items[i];

            set_timestamps(r->rows[item->local], item->action,
                           segment->begin_ns, end_ns);
            if (item->to_local != MO_JOINT_NONE)
                set_timestamps(r->rows[item->to_local], item->to_action,
                               segment->begin_ns, end_ns);
        }
    }
    r->n_complete = n;
    r->end_ns = end_ns;
}

static mo_status launch_item(mo_joint_state *j, const mo_joint_item *item,
                             mo_error *err)
{
    const mo_run_device *d = j->devices[item->local];
    mo_status status = MO_OK;

    if (item->kind != MO_JOINT_ITEM_CALL &&
        item->kind != MO_JOINT_ITEM_TRANSFER)
        return MO_OK;
    status = activate_if_several(j, item->local, err);
    if (status != MO_OK)
        return status;
    return item->kind == MO_JOINT_ITEM_CALL
               ? run_call(d, &d->actions[item->action], err)
               : j->backend->transfer(d->unit, &item->transfer, err);
}

static mo_status launch_segment(mo_joint_state *j,
                                const mo_joint_segment *segment, mo_error *err)
{
    mo_status status = MO_OK;

    if (!j->are_recorded) {
        for (int i = segment->first;
             i < segment->first + segment->n && status == MO_OK; i++)
            status = launch_item(j, &j->items[i], err);
        return status;
    }
    if (!segment->recorded)
        return MO_OK;
    if (j->queue)
        return j->backend->queue_replay(j->queue, segment->recorded, err);
    status = activate_if_several(j, MO_JOINT_RECORDER, err);
    if (status == MO_OK)
        status = j->backend->replay(j->devices[MO_JOINT_RECORDER]->unit,
                                    segment->recorded, err);
    return status;
}

/* Waits for the first n segments. The recorder first: when a program is
 * complete the other units are idle, but may report an error. */
static mo_status await_segments(mo_joint_state *j, mo_joint_request *r, int n,
                                mo_error *err)
{
    int64_t end_ns = r->end_ns;
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_local && status == MO_OK; s++) {
        status = mo_joint_synchronize(j, s, err);
        if (s == MO_JOINT_RECORDER || !j->are_recorded)
            end_ns = mo_stop_clock_ns();
    }
    complete_segments(j, r, n, end_ns);
    return status;
}

mo_status mo_joint_execute(mo_joint_state *j, mo_joint_request *r,
                           mo_error *err)
{
    bool waits = mo_joint_has_separate_memory(j) && !j->queue;
    /* Other units do not know when a program of the recorder is complete, and
     * carriers have to be polled. */
    bool waits_often = waits && (j->n_local > 1 || j->n_carriers > 0);
    mo_status status = MO_OK;

    r->n_complete = 0;
    r->end_ns = mo_stop_clock_ns();
    for (int s = 0; s < j->n_local && r->rows; s++)
        r->rows[s][0] = r->end_ns;
    for (int p = 0; p < j->n_segments && status == MO_OK; p++) {
        if (j->segments[p].phase != r->phase)
            continue;
        if (j->segments[p].is_host) {
            const mo_joint_segment *segment = &j->segments[p];
            status = MO_OK;

            for (int i = segment->first;
                 i < segment->first + segment->n && status == MO_OK; i++) {
                const mo_joint_item *item = &j->items[i];
                const mo_run_action *a =
                    &j->devices[item->local]->actions[item->action];
                int64_t begin_ns;

                if (!r->rows) {
                    status = run_step(j, r, item, err);
                    continue;
                }
                begin_ns = mo_stop_clock_ns();
                status = run_step(j, r, item, err);
                r->end_ns = mo_stop_clock_ns();
                set_timestamps(r->rows[item->local], item->action, begin_ns,
                               r->end_ns);
                /* The download of a value has waited for its unit. */
                if (a->kind == MO_PLAN_STEP_SEND && a->data != a->value &&
                    a->bytes > 0)
                    complete_segments(j, r, p, r->end_ns);
            }
            continue;
        }
        j->segments[p].begin_ns = mo_stop_clock_ns();
        status = launch_segment(j, &j->segments[p], err);
        /* A step of the host needs the results on all devices. */
        if (status == MO_OK && waits_often)
            status = await_segments(j, r, p + 1, err);
    }
    if (status == MO_OK && waits && r->n_complete < j->n_segments)
        status = await_segments(j, r, j->n_segments, err);
    leave_device(j, r);
    for (int s = 0; s < j->n_local && r->rows; s++)
        r->rows[s][mo_run_timestamp_run_end(j->devices[s]->n_actions)] =
            r->end_ns;
    return status;
}

/* Returns the step that brings the item's value from elsewhere, or NULL. */
static const mo_run_action *received_step(const mo_joint_state *j,
                                          const mo_joint_item *item)
{
    const mo_run_action *a = &j->devices[item->local]->actions[item->action];

    if (item->kind == MO_JOINT_ITEM_TRANSFER)
        return item->transfer.carrier && !a->sending ? a : NULL;
    return item->kind == MO_JOINT_ITEM_HOST && !a->sending &&
                   a->kind == MO_PLAN_STEP_AWAIT
               ? a
               : NULL;
}

static mo_status warm_up_segment(mo_joint_state *j,
                                 const mo_joint_segment *segment,
                                 const void *zeros, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = segment->first;
         i < segment->first + segment->n && status == MO_OK; i++) {
        const mo_joint_item *item = &j->items[i];
        const mo_run_action *a = received_step(j, item);

        if (a && a->bytes > 0) {
            status = activate_if_several(j, item->local, err);
            if (status == MO_OK)
                status = j->backend->upload(j->devices[item->local]->unit,
                                            a->value, zeros, a->bytes, err);
        } else if (!item->transfer.carrier)
            status = launch_item(j, item, err);
    }
    return status;
}

mo_status mo_joint_warm_up(mo_joint_state *j, int phase, mo_error *err)
{
    mo_status status = MO_OK;
    size_t most = 0;
    char *zeros;

    for (int i = 0; i < j->n_items; i++) {
        const mo_run_action *a = received_step(j, &j->items[i]);

        if (a && a->bytes > most)
            most = a->bytes;
    }
    zeros = calloc(most + 1, 1);
    if (!zeros)
        return mo_fail_memory(err);
    for (int i = 0; i < j->n_segments && status == MO_OK; i++)
        if (j->segments[i].phase == phase)
            status = warm_up_segment(j, &j->segments[i], zeros, err);
    for (int s = 0; s < j->n_local && status == MO_OK; s++)
        status = mo_joint_synchronize(j, s, err);
    free(zeros);
    return status;
}

mo_status mo_joint_record_programs(mo_joint_state *j, mo_error *err)
{
    mo_backend_unit *unit = j->devices[MO_JOINT_RECORDER]->unit;
    mo_status (*record)(mo_backend_unit *, const mo_backend_program_call *, int,
                        mo_backend_program **, mo_error *) =
        j->n_slots > 0 ? j->backend->queue_record : j->backend->record;
    mo_status status = activate_if_several(j, MO_JOINT_RECORDER, err);

    for (int i = 0; i < j->n_segments && status == MO_OK; i++) {
        mo_joint_segment *segment = &j->segments[i];

        if (segment->n_calls > 0)
            status = record(unit, j->calls + segment->first_call,
                            segment->n_calls, &segment->recorded, err);
    }
    j->are_recorded = status == MO_OK;
    return status;
}

void mo_joint_free_programs(mo_joint_state *j)
{
    if (j->n_local == 0 || !j->devices[MO_JOINT_RECORDER]->unit)
        return;
    /* An error here would hide an earlier one. */
    (void) mo_joint_activate_unit(j, MO_JOINT_RECORDER, NULL);
    for (int i = 0; i < j->n_segments; i++)
        if (j->segments[i].recorded) {
            j->backend->free_program(j->devices[MO_JOINT_RECORDER]->unit,
                                     j->segments[i].recorded);
            j->segments[i].recorded = NULL;
        }
}
