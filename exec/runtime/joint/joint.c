/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/stop.h"
#include "exec/runtime/joint/joint.h"
#include "exec/runtime/joint/joint_internal.h"
#include "exec/thread/cpu_pause.h"

/* The unit that records, launches and waits for programs. */
enum { RECORDER = 0 };

enum { POLL_NS = 50000 }; /* interval of polling the carriers */

mo_status mo_joint_poll_carriers(const mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < j->n_carriers && status == MO_OK; i++)
        status = j->carriers[i]->poll(j->carriers[i], err);
    return status;
}

/* Spin-wait; polls the carriers, since the other end of a transfer may have
 * failed. */
static mo_status spin_wait(mo_joint_state *j, mo_backend_unit *unit,
                           mo_error *err)
{
    int64_t polled = mo_stop_clock_ns();
    bool done = false;
    mo_status status = j->backend->is_idle(unit, &done, err);

    while (status == MO_OK && !done) {
        mo_thread_pause();
        if (mo_stop_clock_ns() - polled >= POLL_NS) {
            status = mo_joint_poll_carriers(j, err);
            polled = mo_stop_clock_ns();
        }
        if (status == MO_OK)
            status = j->backend->is_idle(unit, &done, err);
    }
    return status;
}

mo_status mo_joint_synchronize(mo_joint_state *j, int local, mo_error *err)
{
    mo_backend_unit *unit = j->devices[local]->unit;
    mo_status status = mo_joint_activate_unit(j, local, err);

    if (status == MO_OK && j->n_carriers > 0)
        status = spin_wait(j, unit, err);
    return status == MO_OK ? j->backend->wait(unit, err) : status;
}

static mo_status launch_call(mo_joint_state *j, const mo_joint_item *item,
                             mo_error *err)
{
    const mo_run_device *d = j->devices[item->local];
    mo_status status = mo_joint_activate_unit(j, item->local, err);

    return status == MO_OK
               ? mo_run_execute_step(d, &d->actions[item->action], err)
               : status;
}

static mo_status launch_item(mo_joint_state *j, const mo_joint_item *item,
                             mo_error *err)
{
    mo_status status = MO_OK;

    if (item->kind == MO_JOINT_ITEM_CALL)
        return launch_call(j, item, err);
    if (item->kind != MO_JOINT_ITEM_TRANSFER)
        return MO_OK;
    status = mo_joint_activate_unit(j, item->local, err);
    if (status == MO_OK)
        status = j->backend->transfer(j->devices[item->local]->unit,
                                      &item->transfer, err);
    return status;
}

/* Returns the step that brings the item's value from elsewhere, or NULL. */
static const mo_run_action *received_step(const mo_joint_state *j,
                                          const mo_joint_item *item)
{
    const mo_run_action *a = &j->devices[item->local]->actions[item->action];

    if (item->kind == MO_JOINT_ITEM_TRANSFER)
        return item->transfer.carrier && !a->sending ? a : NULL;
    return item->kind == MO_JOINT_ITEM_STAGED && !a->sending &&
                   a->kind == MO_PLAN_STEP_AWAIT
               ? a
               : NULL;
}

mo_status mo_joint_warm_up(mo_joint_state *j, mo_error *err)
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
    for (int i = 0; i < j->n_items && status == MO_OK; i++) {
        const mo_joint_item *item = &j->items[i];
        const mo_run_action *a = received_step(j, item);

        if (a && a->bytes > 0) {
            status = mo_joint_activate_unit(j, item->local, err);
            if (status == MO_OK)
                status = j->backend->upload(j->devices[item->local]->unit,
                                            a->value, zeros, a->bytes, err);
        } else if (!item->transfer.carrier &&
                   item->kind != MO_JOINT_ITEM_STAGED)
            status = launch_item(j, item, err);
    }
    for (int s = 0; s < j->n_local && status == MO_OK; s++)
        status = mo_joint_synchronize(j, s, err);
    free(zeros);
    return status;
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
    status = mo_joint_activate_unit(j, RECORDER, err);
    if (status == MO_OK)
        status = j->backend->replay(j->devices[RECORDER]->unit,
                                    segment->recorded, err);
    return status;
}

static void set_timestamps(int64_t *row, int action, int64_t begin_ns,
                           int64_t end_ns)
{
    row[mo_run_timestamp_step_begin(action)] = begin_ns;
    row[mo_run_timestamp_step_end(action)] = end_ns;
}

/* All steps of a segment get the timestamps of the segment. */
static void set_segment_timestamps(const mo_joint_state *j,
                                   const mo_joint_segment *segment,
                                   int64_t begin_ns, int64_t end_ns,
                                   int64_t *const *rows)
{
    for (int i = segment->first; i < segment->first + segment->n; i++) {
        const mo_joint_item *item = &j->items[i];

        set_timestamps(rows[item->local], item->action, begin_ns, end_ns);
        if (item->to_local != MO_JOINT_NONE)
            set_timestamps(rows[item->to_local], item->to_action, begin_ns,
                           end_ns);
    }
}

/* A host step needs the results of the segment on all devices. */
static mo_status run_segment(mo_joint_state *j, const mo_joint_segment *segment,
                             int64_t *const *rows, int64_t *end_ns,
                             mo_error *err)
{
    int64_t begin_ns = mo_stop_clock_ns();
    mo_status status;

    *end_ns = begin_ns;
    if (segment->is_host) {
        status = launch_call(j, &j->items[segment->first], err);
        *end_ns = mo_stop_clock_ns();
    } else {
        status = launch_segment(j, segment, err);
        /* The recorder first: when a program is complete the other units are
         * idle, but may report an error. */
        for (int s = 0; s < j->n_local && status == MO_OK; s++) {
            status = mo_joint_synchronize(j, s, err);
            if (s == RECORDER || !j->are_recorded)
                *end_ns = mo_stop_clock_ns();
        }
    }
    set_segment_timestamps(j, segment, begin_ns, *end_ns, rows);
    return status;
}

mo_status mo_joint_execute(mo_joint_state *j, int64_t *const *rows,
                           mo_error *err)
{
    int64_t begin_ns = mo_stop_clock_ns(), end_ns = begin_ns;
    mo_status status = MO_OK;

    for (int i = 0; i < j->n_segments && status == MO_OK; i++)
        status = run_segment(j, &j->segments[i], rows, &end_ns, err);
    for (int s = 0; s < j->n_local; s++) {
        rows[s][0] = begin_ns;
        rows[s][mo_run_timestamp_run_end(j->devices[s]->n_actions)] = end_ns;
    }
    return status;
}

mo_status mo_joint_record_programs(mo_joint_state *j, mo_error *err)
{
    mo_backend_unit *unit = j->devices[RECORDER]->unit;
    mo_status (*record)(mo_backend_unit *, const mo_backend_program_call *, int,
                        mo_backend_program **, mo_error *) =
        j->n_slots > 0 ? j->backend->queue_record : j->backend->record;
    mo_status status = mo_joint_activate_unit(j, RECORDER, err);

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
    if (j->n_local == 0 || !j->devices[RECORDER]->unit)
        return;
    /* An error here would hide an earlier one. */
    (void) mo_joint_activate_unit(j, RECORDER, NULL);
    for (int i = 0; i < j->n_segments; i++)
        if (j->segments[i].recorded) {
            j->backend->free_program(j->devices[RECORDER]->unit,
                                     j->segments[i].recorded);
            j->segments[i].recorded = NULL;
        }
}

/* A driver may support streams but not graphs: then the reason is kept in
 * eager_reason, and calls are launched one by one, where an error with another
 * cause occurs again. */
static mo_status try_record(mo_joint_state *j, mo_error *err)
{
    mo_error why = { 0 };
    mo_status status;

    if (j->are_recorded || j->options->eager || *j->eager_reason)
        return MO_OK;
    status = mo_joint_record_programs(j, &why);
    if (status == MO_OK)
        return MO_OK;
    mo_joint_free_programs(j);
    if (status == MO_E_MEMORY) {
        if (err)
            *err = why;
        return status;
    }
    snprintf(j->eager_reason, MO_RUN_REASON_SIZE, "%.255s", why.text);
    return MO_OK;
}

static mo_status run_once(mo_joint_state *j, int r, int64_t **rows,
                          mo_error *err)
{
    mo_status status;

    for (int s = 0; s < j->n_local; s++) {
        mo_run_device *d = j->devices[s];

        rows[s] =
            r < 0 ? d->warm_up_timestamps : mo_run_device_timestamps(d, r);
    }
    status = mo_joint_execute(j, rows, err);
    for (int s = 0; s < j->n_local && r >= 0 && status == MO_OK; s++)
        j->devices[s]->n_runs = r + 1;
    return status;
}

/* The first run triggers one-time initialization in libraries and carriers: it
 * goes call by call. */
static mo_status execute_runs(mo_joint_state *j, mo_error *err)
{
    const mo_run_plan_options *o = j->options;
    int64_t **rows =
        mo_arena_array(j->arena, (size_t) j->n_local, sizeof *rows);
    mo_status status = rows ? MO_OK : mo_fail_memory(err);
    int64_t begin_ns = mo_stop_clock_ns(), delay_ns;
    bool warming = mo_run_warms_by_time(o);
    const mo_run_device *first = j->devices[0];

    for (int r = -o->warm_ups; r < o->runs && status == MO_OK; r++) {
        bool stop = mo_stop_reached(o->stop);

        if (r >= 0 && warming)
            status = mo_run_more_warm_ups(o, begin_ns, &warming, err);
        if (r >= 0 && warming)
            r = -1; /* one more of them */
        if (first->n_warm_ups + first->n_runs > 0 && status == MO_OK)
            status = try_record(j, err);
        for (int s = 0; s < j->n_local && status == MO_OK; s++) {
            status = mo_joint_activate_unit(j, s, err);
            if (status == MO_OK)
                status = mo_run_load_inputs(j->devices[s], err);
        }
        delay_ns = mo_run_delay_ns(first);
        if (status == MO_OK)
            status = o->transport->barrier(o->world, &stop, err);
        if (status != MO_OK || stop)
            break;
        status = run_once(j, r, rows, err);
        delay_ns = mo_run_delay_ns(first) - delay_ns;
        for (int s = 0; s < j->n_local; s++)
            if (r >= 0)
                j->devices[s]->wait_ns[r] = delay_ns;
            else
                j->devices[s]->n_warm_ups++;
    }
    return status;
}

mo_status mo_joint_run_devices(mo_run_device *const *devices, int n,
                               char eager_reason[MO_RUN_REASON_SIZE],
                               int64_t *chain_ns, mo_error *err)
{
    const mo_run_device *first = devices[0];
    mo_joint_state j = { .plan = first->plan,
                         .options = first->options,
                         .backend = first->options->backends[first->device],
                         .devices = devices,
                         .n_local = n,
                         .eager_reason = eager_reason };
    mo_status status;

    *eager_reason = '\0';
    *chain_ns = 0;
    status = mo_joint_open(&j, err);
    if (status == MO_OK)
        status = execute_runs(&j, err);
    if (status == MO_OK && first->n_runs > 0) {
        for (int s = 0; s < j.n_local && status == MO_OK; s++) {
            status = mo_joint_activate_unit(&j, s, err);
            if (status == MO_OK)
                status = mo_run_fetch_outputs(j.devices[s], err);
        }
        if (status == MO_OK && !first->options->whole)
            status = mo_joint_step_times(&j, chain_ns, err);
    }
    mo_joint_free_programs(&j);
    for (int s = 0; s < n; s++)
        devices[s]->carried = NULL;
    mo_arena_free(j.arena);
    return status;
}
