/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the devices of joint execution, opens them and connects carriers. */
#include <stdio.h>

#include "exec/runtime/joint/joint.h"
#include "exec/runtime/joint/joint_internal.h"

int mo_joint_select_devices(const mo_exec_plan *plan,
                            const mo_run_plan_options *options, bool *chosen)
{
    int rank = options->transport->rank(options->world), n = 0;
    const mo_backend *backend = NULL;

    for (int d = 0; d < plan->n_devices; d++) {
        chosen[d] = false;
        if (options->rank_of[d] != rank)
            continue;
        if (!backend && options->backends[d]->separate_memory &&
            options->backends[d]->transfer && options->backends[d]->is_idle)
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
        const mo_plan_transfer *transfer = &plan->transfers[t];
        bool ours =
            transfer->from == device->device || transfer->to == device->device;

        if (ours && mo_joint_find_carrier(device->options, t))
            return true;
    }
    return false;
}

mo_status mo_joint_activate_unit(mo_joint_state *j, int local, mo_error *err)
{
    return j->backend->bind_thread
               ? j->backend->bind_thread(j->devices[local]->unit, err)
               : MO_OK;
}

/* Adds the carrier of a transfer, which may have been added for another. */
static void add_carrier(mo_joint_state *j, const mo_backend_carrier *carrier)
{
    const char *reason;
    int i = 0;

    while (i < j->n_carriers && j->carriers[i] != carrier)
        i++;
    if (i < j->n_carriers)
        return;
    j->carriers[j->n_carriers++] = carrier;
    reason = carrier->eager_reason ? carrier->eager_reason(carrier) : NULL;
    if (reason)
        snprintf(j->eager_reason, MO_RUN_REASON_SIZE, "%s", reason);
}

mo_status mo_joint_alloc_state(mo_joint_state *j, mo_error *err)
{
    size_t devices = (size_t) j->plan->n_devices + 1;
    size_t transfers = (size_t) j->plan->n_transfers + 1;

    j->arena = mo_arena_new();
    if (!j->arena)
        return mo_fail_memory(err);
    j->local_of = mo_arena_array(j->arena, devices, sizeof *j->local_of);
    j->units = mo_arena_array(j->arena, devices, sizeof *j->units);
    j->carried = mo_arena_array(j->arena, transfers, sizeof *j->carried);
    j->carriers = mo_arena_array(j->arena, transfers, sizeof *j->carriers);
    if (!j->local_of || !j->units || !j->carried || !j->carriers)
        return mo_fail_memory(err);
    for (int d = 0; d < j->plan->n_devices; d++)
        j->local_of[d] = MO_JOINT_NONE;
    for (int s = 0; s < j->n_local; s++)
        j->local_of[j->devices[s]->device] = s;
    return MO_OK;
}

/* Connects the carriers to the units, in the transport's order of devices. */
static mo_status connect_carriers(mo_joint_state *j, mo_error *err)
{
    int n = j->n_slots > 0 ? j->n_slots : 1, n_devices = j->plan->n_devices;
    size_t room = ((size_t) n_devices + 1) * (size_t) n;
    mo_backend_unit **units = mo_arena_array(j->arena, room, sizeof *units);
    mo_status status = units ? MO_OK : mo_fail_memory(err);

    for (int d = 0; d < n_devices && status == MO_OK; d++)
        for (int s = 0; s < n; s++)
            units[d * n + s] = j->units[d];
    for (int i = 0; i < j->n_carriers && status == MO_OK; i++)
        status = j->carriers[i]->connect(j->carriers[i], units, err);
    return status;
}

/* Sequentially: autotuning on a device must not be disturbed by others. */
static mo_status open_devices(mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_local && status == MO_OK; s++) {
        mo_run_device *d = j->devices[s];

        d->carried = j->carried;
        status = mo_run_device_open(d, err);
        j->units[d->device] = d->unit;
    }
    return status == MO_OK ? connect_carriers(j, err) : status;
}

mo_status mo_joint_open(mo_joint_state *j, mo_error *err)
{
    mo_status status = mo_joint_alloc_state(j, err);

    if (status != MO_OK)
        return status;
    for (int t = 0; t < j->plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &j->plan->transfers[t];
        bool sends = j->local_of[transfer->from] != MO_JOINT_NONE;
        bool receives = j->local_of[transfer->to] != MO_JOINT_NONE;
        const mo_backend_carrier *carrier = NULL;

        if (sends != receives)
            carrier = mo_joint_find_carrier(j->options, t);
        if (carrier)
            add_carrier(j, carrier);
        j->carried[t] = (sends && receives) || carrier;
    }
    status = open_devices(j, err);
    if (status == MO_OK)
        status = mo_joint_linearize(j, err);
    if (status == MO_OK)
        status = mo_joint_find_dependencies(j, err);
    return status;
}
