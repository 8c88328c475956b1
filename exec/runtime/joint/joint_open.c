/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the devices of joint execution, opens them, connects carriers, and
 * merges the steps of all devices into one total order, cut into segments.
 */
#include <stdio.h>
#include <stdlib.h>

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

mo_status mo_joint_activate_unit(mo_joint_state *j, int local, mo_error *err)
{
    return j->backend && j->backend->bind_thread
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
        if (j->devices[s]->device != MO_PLAN_NONE)
            j->local_of[j->devices[s]->device] = s;
    return MO_OK;
}

/* A step of a local device, before the two ends of transfers are merged. */
typedef struct ordered_step {
    int order, kind, local, action;
} ordered_step;

static int compare_steps(const void *a, const void *b)
{
    const ordered_step *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    /* A send comes right before its receive: MO_PLAN_STEP_SEND is less. */
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->local < y->local ? -1 : x->local > y->local;
}

/* Without separate memory the host does all steps. */
static mo_joint_item_kind item_kind(const mo_joint_state *j,
                                    const mo_run_action *a)
{
    if (j->backend && !j->backend->separate_memory)
        return MO_JOINT_ITEM_HOST;
    if (a->kind == MO_PLAN_STEP_COMPUTE)
        return MO_JOINT_ITEM_CALL;
    if (!j->carried[a->what])
        return MO_JOINT_ITEM_HOST;
    return a->kind == MO_PLAN_STEP_AWAIT ? MO_JOINT_ITEM_AWAIT
                                         : MO_JOINT_ITEM_TRANSFER;
}

static void add_item(mo_joint_state *j, const ordered_step *p)
{
    const mo_run_action *a = &j->devices[p->local]->actions[p->action];
    mo_joint_item *item = &j->items[j->n_items];

    if (j->n_items > 0 && a->kind == MO_PLAN_STEP_RECEIVE &&
        item[-1].kind == MO_JOINT_ITEM_TRANSFER &&
        item[-1].transfer.id == a->what) {
        item[-1].to_local = p->local;
        item[-1].to_action = p->action;
        item[-1].transfer.target = a->value;
        return;
    }
    *item = (mo_joint_item){ .kind = item_kind(j, a),
                             .local = p->local,
                             .action = p->action,
                             .to_local = MO_JOINT_NONE,
                             .to_action = MO_JOINT_NONE,
                             .call = MO_JOINT_NONE };
    if (item->kind == MO_JOINT_ITEM_TRANSFER) {
        /* The receive, if it is local, adds the target (add_item). */
        const mo_plan_transfer *transfer = &j->plan->transfers[a->what];
        const int64_t *min_ns = j->options->min_transfer_ns;

        item->transfer =
            (mo_backend_transfer){ .id = a->what,
                                   .from = transfer->from,
                                   .to = transfer->to,
                                   .data = a->sending ? a->value : NULL,
                                   .target = a->sending ? NULL : a->value,
                                   .bytes = a->bytes,
                                   .from_unit = j->units[transfer->from],
                                   .to_unit = j->units[transfer->to],
                                   .min_ns = min_ns ? min_ns[a->what] : 0 };
        if (!item->transfer.from_unit || !item->transfer.to_unit)
            item->transfer.carrier = mo_joint_find_carrier(j->options, a->what);
    }
    j->n_items++;
}

/* Phases follow each other in the total order. */
static int item_phase(const mo_joint_state *j, const mo_joint_item *item)
{
    const mo_run_action *a = &j->devices[item->local]->actions[item->action];

    return a->kind == MO_PLAN_STEP_COMPUTE
               ? MO_PLAN_PHASE_OF(j->plan, call, a->what)
               : MO_PLAN_PHASE_OF(j->plan, transfer, a->what);
}

mo_status mo_joint_linearize(mo_joint_state *j, mo_error *err)
{
    ordered_step *steps;
    size_t room = 1;
    int n = 0;

    for (int s = 0; s < j->n_local; s++)
        room += (size_t) j->devices[s]->n_actions;
    steps = mo_arena_array(j->arena, room, sizeof *steps);
    j->items = mo_arena_array(j->arena, room, sizeof *j->items);
    j->segments = mo_arena_array(j->arena, room, sizeof *j->segments);
    if (!steps || !j->items || !j->segments)
        return mo_fail_memory(err);
    for (int s = 0; s < j->n_local; s++) {
        const mo_run_device *d = j->devices[s];

        for (int i = 0; i < d->n_actions; i++)
            steps[n++] =
                (ordered_step){ j->plan->devices[d->device].steps[i].order,
                                (int) d->actions[i].kind, s, i };
    }
    qsort(steps, (size_t) n, sizeof *steps, compare_steps);
    for (int i = 0; i < n; i++)
        add_item(j, &steps[i]);
    for (int i = 0; i < j->n_items; i++) {
        bool is_host = j->items[i].kind == MO_JOINT_ITEM_HOST;
        int phase = item_phase(j, &j->items[i]);
        const mo_joint_segment *last = &j->segments[j->n_segments - 1];

        if (i == 0 || is_host != last->is_host || phase != last->phase)
            j->segments[j->n_segments++] = (mo_joint_segment){
                .is_host = is_host, .phase = phase, .first = i
            };
        j->segments[j->n_segments - 1].n++;
    }
    return MO_OK;
}

mo_status mo_joint_merge_steps(mo_joint_state *j, mo_error *err)
{
    mo_status status = mo_joint_linearize(j, err);

    if (status == MO_OK && mo_joint_has_separate_memory(j))
        status = mo_joint_find_dependencies(j, err);
    return status;
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

        /* A unit that cannot poll is not driven with others. */
        if (sends != receives && j->backend->transfer && j->backend->is_idle)
            carrier = mo_joint_find_carrier(j->options, t);
        if (carrier)
            add_carrier(j, carrier);
        j->carried[t] = (sends && receives) || carrier;
    }
    /* Sequentially: autotuning on a device must not be disturbed by others. */
    for (int s = 0; s < j->n_local && status == MO_OK; s++) {
        mo_run_device *d = j->devices[s];

        d->carried = j->carried;
        status = mo_run_device_open(d, err);
        if (d->device != MO_PLAN_NONE)
            j->units[d->device] = d->unit;
    }
    if (status == MO_OK) {
        int n = j->n_slots > 0 ? j->n_slots : 1, n_devices = j->plan->n_devices;
        size_t room = ((size_t) n_devices + 1) * (size_t) n;
        mo_backend_unit **units = mo_arena_array(j->arena, room, sizeof *units);

        /* Connects the carriers to the units, in the transport's order of
         * devices. */
        status = units ? MO_OK : mo_fail_memory(err);
        for (int d = 0; d < n_devices && status == MO_OK; d++)
            for (int k = 0; k < n; k++)
                units[d * n + k] = j->units[d];
        for (int i = 0; i < j->n_carriers && status == MO_OK; i++)
            status = j->carriers[i]->connect(j->carriers[i], units, err);
    }
    return status == MO_OK ? mo_joint_merge_steps(j, err) : status;
}
