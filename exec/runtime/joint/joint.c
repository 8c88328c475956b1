/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/joint/joint.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/stop.h"
#include "exec/runtime/joint/joint_internal.h"

/* ----------------------------------------------------------------- choosing */

static bool can_join(const mo_backend *backend)
{
    return backend->apart && backend->carry && backend->done;
}

int mo_joint_select_devices(const mo_exec_plan *plan,
                            const mo_run_plan_options *options, bool *chosen)
{
    int rank = options->transport->rank(options->world), n = 0;
    const mo_backend *backend = NULL;

    for (int d = 0; d < plan->n_devices; d++) {
        chosen[d] = false;
        if (options->rank_of[d] != rank)
            continue;
        if (!backend && can_join(options->backends[d]))
            backend = options->backends[d];
        chosen[d] = backend && options->backends[d] == backend;
        n += chosen[d];
    }
    return n;
}

const mo_backend_carrier *
mo_joint_find_carrier(const mo_run_plan_options *options, int transfer)
{
    const mo_transport *transport = options->transport;

    return transport->carrier ? transport->carrier(options->world, transfer)
                              : NULL;
}

bool mo_joint_uses_carrier(const mo_run_device *device)
{
    const mo_exec_plan *plan = device->plan;

    for (int t = 0; t < plan->n_transfers; t++) {
        const mo_plan_transfer *way = &plan->transfers[t];
        bool ours = way->from == device->device || way->to == device->device;

        if (ours && mo_joint_find_carrier(device->options, t))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ opening */

mo_status mo_joint_activate_unit(mo_joint_state *j, int seat, mo_error *err)
{
    return j->backend->enter ? j->backend->enter(j->devices[seat]->unit, err)
                             : MO_OK;
}

/* A carrier stands for many transfers. */
static void note_carrier(mo_joint_state *j, const mo_backend_carrier *carrier)
{
    const char *because;
    int i = 0;

    while (i < j->n_carriers && j->carriers[i] != carrier)
        i++;
    if (i < j->n_carriers)
        return;
    j->carriers[j->n_carriers++] = carrier;
    because = carrier->eager_because ? carrier->eager_because(carrier) : NULL;
    if (because)
        snprintf(j->eager_because, MO_RUN_REASON_SIZE, "%s", because);
}

static void find_carried(mo_joint_state *j)
{
    for (int t = 0; t < j->plan->n_transfers; t++) {
        const mo_plan_transfer *way = &j->plan->transfers[t];
        bool sends = j->seat_of[way->from] != MO_JOINT_NONE;
        bool receives = j->seat_of[way->to] != MO_JOINT_NONE;
        const mo_backend_carrier *carrier = NULL;

        if (sends != receives)
            carrier = mo_joint_find_carrier(j->options, t);
        if (carrier)
            note_carrier(j, carrier);
        j->carried[t] = (sends && receives) || carrier;
    }
}

static mo_status make_room(mo_joint_state *j, mo_error *err)
{
    size_t devices = (size_t) j->plan->n_devices + 1;
    size_t transfers = (size_t) j->plan->n_transfers + 1;

    j->arena = mo_arena_new();
    if (!j->arena)
        return mo_fail_memory(err);
    j->seat_of = mo_arena_array(j->arena, devices, sizeof *j->seat_of);
    j->units = mo_arena_array(j->arena, devices, sizeof *j->units);
    j->carried = mo_arena_array(j->arena, transfers, sizeof *j->carried);
    j->carriers = mo_arena_array(j->arena, transfers, sizeof *j->carriers);
    if (!j->seat_of || !j->units || !j->carried || !j->carriers)
        return mo_fail_memory(err);
    for (int d = 0; d < j->plan->n_devices; d++)
        j->seat_of[d] = MO_JOINT_NONE;
    for (int s = 0; s < j->n_seats; s++)
        j->seat_of[j->devices[s]->device] = s;
    return MO_OK;
}

/* One after the other: what a device measures when it is opened is measured
 * with nothing beside it. */
static mo_status open_devices(mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_seats && status == MO_OK; s++) {
        mo_run_device *d = j->devices[s];

        d->carried = j->carried;
        status = mo_run_device_open(d, err);
        j->units[d->device] = d->unit;
    }
    for (int i = 0; i < j->n_carriers && status == MO_OK; i++)
        status = j->carriers[i]->ready(j->carriers[i], j->units, err);
    return status;
}

static mo_status open_joint(mo_joint_state *j, mo_error *err)
{
    mo_status status = make_room(j, err);

    if (status != MO_OK)
        return status;
    find_carried(j);
    status = open_devices(j, err);
    if (status == MO_OK)
        status = mo_joint_linearize(j, err);
    if (status == MO_OK)
        status = mo_joint_find_dependencies(j, err);
    return status;
}

/* --------------------------------------------------------------------- runs */

static mo_status load_inputs(mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_seats && status == MO_OK; s++) {
        status = mo_joint_activate_unit(j, s, err);
        if (status == MO_OK)
            status = mo_run_load_inputs(j->devices[s], err);
    }
    return status;
}

/* A driver may know less of graphs than of streams: then it is said why, and
 * calls are begun one by one.  An error that has other reasons comes again. */
static mo_status record(mo_joint_state *j, mo_error *err)
{
    mo_error why = { 0 };
    mo_status status;

    if (j->are_recorded || j->options->eager || *j->eager_because)
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
    snprintf(j->eager_because, MO_RUN_REASON_SIZE, "%.255s", why.text);
    return MO_OK;
}

static mo_status run_once(mo_joint_state *j, int r, int64_t **rows,
                          mo_error *err)
{
    mo_status status;

    for (int s = 0; s < j->n_seats; s++) {
        mo_run_device *d = j->devices[s];

        rows[s] = r < 0 ? d->warm_up_stamps : mo_run_device_timestamps(d, r);
    }
    status = mo_joint_execute(j, rows, err);
    for (int s = 0; s < j->n_seats && r >= 0 && status == MO_OK; s++)
        j->devices[s]->n_runs = r + 1;
    return status;
}

/* The first run finds out what libraries and carriers do only once: it goes
 * call by call. */
static mo_status make_runs(mo_joint_state *j, mo_error *err)
{
    const mo_run_plan_options *o = j->options;
    int64_t **rows =
        mo_arena_array(j->arena, (size_t) j->n_seats, sizeof *rows);
    mo_status status = rows ? MO_OK : mo_fail_memory(err);

    for (int r = -o->warm_ups; r < o->runs && status == MO_OK; r++) {
        bool stop = mo_stop_reached(o->stop);

        if (r > -o->warm_ups)
            status = record(j, err);
        if (status == MO_OK)
            status = load_inputs(j, err);
        if (status == MO_OK)
            status = o->transport->barrier(o->world, &stop, err);
        if (status != MO_OK || stop)
            break;
        status = run_once(j, r, rows, err);
    }
    return status;
}

static mo_status fetch_outputs(mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_seats && status == MO_OK; s++) {
        status = mo_joint_activate_unit(j, s, err);
        if (status == MO_OK)
            status = mo_run_fetch_outputs(j->devices[s], err);
    }
    return status;
}

mo_status mo_joint_run_devices(mo_run_device *const *devices, int n,
                               char eager_because[MO_RUN_REASON_SIZE],
                               int64_t *chain_ns, mo_error *err)
{
    const mo_run_device *first = devices[0];
    mo_joint_state j = { .plan = first->plan,
                         .options = first->options,
                         .backend = first->options->backends[first->device],
                         .devices = devices,
                         .n_seats = n,
                         .eager_because = eager_because };
    mo_status status;

    *eager_because = '\0';
    *chain_ns = 0;
    status = open_joint(&j, err);
    if (status == MO_OK)
        status = make_runs(&j, err);
    if (status == MO_OK && first->n_runs > 0) {
        status = fetch_outputs(&j, err);
        if (status == MO_OK && !first->options->whole)
            status = mo_joint_step_times(&j, chain_ns, err);
    }
    mo_joint_free_programs(&j);
    for (int s = 0; s < n; s++)
        devices[s]->carried = NULL;
    mo_arena_free(j.arena);
    return status;
}
