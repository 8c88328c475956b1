/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer insertion: replicates values on the other devices that read them. */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/ir/value_table.h"
#include "exec/plan/schedule/schedule_steps.h"

/*
 * Start times of transfers in the schedule.  The schedule has ops and tensors
 * of the placed graph, the plan has values: a transfer from an item on one
 * device to an item on another is matched by the two and by its size; of
 * several equal ones, each is matched once.
 */
typedef struct transfer_times {
    const mo_instance *x;
    const mo_schedule *schedule;
    bool *matched; /* by transfer of the schedule */
} transfer_times;

typedef struct transfer_time {
    int tensor; /* of the placed graph, or MO_PLAN_NONE: not in the schedule */
    int64_t start_ns; /* of the first of its flows to that device; or 0 */
} transfer_time;

/* The transfer that carries a flow to a device, or NULL. */
static const mo_transfer *transfer_of(const transfer_times *times, int flow,
                                      int to)
{
    const mo_schedule *s = times->schedule;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    return mo_schedule_transfer(s, once ? times->x->flows[flow].tensor : flow,
                                to);
}

/* Returns how well a flow matches, -1: not at all. Equal size counts more than
 * not having been matched before. */
static int match_quality(const transfer_times *times, int flow, int reader,
                         int to, int64_t bytes)
{
    const mo_flow *candidate = &times->x->flows[flow];
    const mo_transfer *transfer;

    if (candidate->to != reader)
        return -1;
    transfer = transfer_of(times, flow, to);
    if (!transfer)
        return -1;
    return 2 * (times->x->tensor_bytes[candidate->tensor] == bytes) +
           !times->matched[transfer - times->schedule->transfers];
}

/* Returns the start of a tensor's first transfer to a device: each reader may
 * have a transfer of its own. */
static int64_t first_start(const transfer_times *times, int tensor, int to)
{
    int64_t first = INT64_MAX;

    for (int q = times->x->tensor_start[tensor];
         q < times->x->tensor_start[tensor + 1]; q++) {
        const mo_transfer *transfer = NULL;

        if (times->schedule->device[times->x->flows[q].to] == to)
            transfer = transfer_of(times, q, to);
        if (transfer && transfer->start_ns < first)
            first = transfer->start_ns;
    }
    return first;
}

/* Finds the transfer of the schedule from op maker to op reader, on device to,
 * that matches best, and marks it. Both are ops of the placed graph, or
 * MO_PLAN_NONE. */
static transfer_time match_transfer(transfer_times *times, int maker,
                                    int reader, int to, int64_t bytes)
{
    const mo_instance *x = times->x;
    int best = -1, best_quality = -1, tensor;

    if (maker == MO_PLAN_NONE || reader == MO_PLAN_NONE)
        return (transfer_time){ MO_PLAN_NONE, 0 };
    for (int q = x->out_start[maker]; q < x->out_start[maker + 1]; q++) {
        int quality = match_quality(times, q, reader, to, bytes);

        if (quality > best_quality) {
            best = q;
            best_quality = quality;
        }
    }
    if (best < 0)
        return (transfer_time){ MO_PLAN_NONE, 0 };
    tensor = x->flows[best].tensor;
    times->matched[transfer_of(times, best, to) - times->schedule->transfers] =
        true;
    return (transfer_time){ tensor, first_start(times, tensor, to) };
}

/* A copy of a value on another device: value is the number of the copy. */
typedef struct replica {
    int device, value;
    int next; /* of the same value, or MO_PLAN_NONE */
} replica;

/* A transfer of the plan, and its start in the schedule. */
typedef struct pending_transfer {
    mo_plan_transfer transfer;
    int64_t start_ns;
} pending_transfer;

typedef struct transfer_state {
    mo_exec_plan *plan;
    transfer_times times;
    mo_plan_values values;
    int *first_replica; /* by value: the first of its replicas */
    size_t first_replica_room;
    replica *replicas;
    size_t n_replicas, replicas_room;
    pending_transfer *pending;
    size_t n_pending, pending_room;
} transfer_state;

static int find_replica(const transfer_state *s, int value, int device)
{
    for (int t = s->first_replica[value]; t != MO_PLAN_NONE;
         t = s->replicas[t].next)
        if (s->replicas[t].device == device)
            return s->replicas[t].value;
    return MO_PLAN_NONE;
}

static mo_status add_replica(transfer_state *s, int value,
                             const mo_plan_value *made, int *number,
                             mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(s->replicas, s->n_replicas, s->replicas_room, err);

    if (status == MO_OK)
        status = mo_plan_values_add(&s->values, made, number, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &s->first_replica,
                                  &s->first_replica_room, s->values.n,
                                  sizeof *s->first_replica, err);
    if (status == MO_OK)
        s->first_replica[*number] = MO_PLAN_NONE;
    if (status != MO_OK)
        return status;
    s->replicas[s->n_replicas] =
        (replica){ made->device, *number, s->first_replica[value] };
    s->first_replica[value] = (int) s->n_replicas++;
    return MO_OK;
}

/* Returns the op of the placed graph that contains an item, or MO_PLAN_NONE. */
static int placed_op(const transfer_state *s, int item)
{
    return item == MO_PLAN_NONE ? MO_PLAN_NONE : s->plan->items[item].op;
}

static mo_status add_pending(transfer_state *s, int value, int maker,
                             int reader, mo_plan_value *copy, mo_error *err)
{
    const mo_plan_value *from = &s->values.items[value];
    int64_t bytes = mo_tensor_desc_bytes(&from->desc);
    transfer_time match;
    mo_status status =
        MO_ARRAY_GROW(s->pending, s->n_pending, s->pending_room, err);

    if (status != MO_OK)
        return status;
    if (s->n_pending >= INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d transfers", INT_MAX);
    match = match_transfer(&s->times, placed_op(s, maker), placed_op(s, reader),
                           copy->device, bytes);
    copy->transfer = (int) s->n_pending;
    s->pending[s->n_pending++] =
        (pending_transfer){ { .from_value = value,
                              .to_value = (int) s->values.n,
                              .from = from->device,
                              .to = copy->device,
                              .bytes = bytes,
                              .tensor = match.tensor },
                            match.start_ns };
    return MO_OK;
}

/* Sets *number to the replica of a value on device. A new replica is sent from
 * item maker to item reader, or loaded if it is constant. */
static mo_status send_value(transfer_state *s, int value, int device, int maker,
                            int reader, int *number, mo_error *err)
{
    mo_plan_value copy = s->values.items[value];
    mo_status status = MO_OK;

    *number = find_replica(s, value, device);
    if (*number != MO_PLAN_NONE)
        return MO_OK;
    copy.device = device;
    copy.input = copy.transfer = MO_PLAN_NONE;
    copy.state = NULL; /* the replica is not kept between runs */
    if (!copy.constant)
        status = add_pending(s, value, maker, reader, &copy, err);
    return status == MO_OK ? add_replica(s, value, &copy, number, err) : status;
}

/* Sets *number to the value on device that item reader reads in place of value:
 * value itself, or its replica. The replica of a view is a view of the replica
 * of its root. */
static mo_status replicate_value(transfer_state *s, int value, int device,
                                 int reader, int *number, mo_error *err)
{
    mo_plan_value view = s->values.items[value];
    mo_status status;

    *number = view.device == device ? value : find_replica(s, value, device);
    if (*number != MO_PLAN_NONE)
        return MO_OK;
    if (view.view_of == MO_PLAN_NONE)
        return send_value(s, value, device, view.item, reader, number, err);
    status = send_value(s, mo_plan_value_root(s->values.items, value), device,
                        view.item, reader, &view.view_of, err);
    view.device = device;
    return status == MO_OK ? add_replica(s, value, &view, number, err) : status;
}

static mo_status write_transfers(transfer_state *s, int64_t **start_ns,
                                 mo_error *err)
{
    mo_exec_plan *plan = s->plan;
    int64_t *starts = malloc((s->n_pending + 1) * sizeof *starts);

    plan->transfers =
        mo_arena_array(plan->arena, s->n_pending, sizeof *plan->transfers);
    if (!starts || !plan->transfers) {
        free(starts);
        return mo_fail_memory(err);
    }
    for (size_t t = 0; t < s->n_pending; t++) {
        plan->transfers[t] = s->pending[t].transfer;
        starts[t] = s->pending[t].start_ns;
    }
    plan->n_transfers = (int) s->n_pending;
    *start_ns = starts;
    return MO_OK;
}

mo_status mo_plan_insert_transfers(const mo_plan_source *source,
                                   mo_exec_plan *plan, int64_t **start_ns,
                                   mo_error *err)
{
    transfer_state s = { .plan = plan };
    mo_status status;

    s.times.x = source->instance;
    s.times.schedule = source->schedule;
    s.times.matched = calloc((size_t) s.times.schedule->n_transfers + 1,
                             sizeof *s.times.matched);
    status = s.times.matched ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        status = mo_plan_values_copy(s.plan, &s.values, err);
        if (status == MO_OK)
            status = mo_array_reserve((void **) &s.first_replica,
                                      &s.first_replica_room, s.values.n + 1,
                                      sizeof *s.first_replica, err);
        for (size_t v = 0; v < s.values.n && status == MO_OK; v++)
            s.first_replica[v] = MO_PLAN_NONE;
    }
    if (status == MO_OK) {
        /* Views of values on other devices; a viewed value comes before its
         * views. */
        for (int v = 0; v < s.plan->n_values && status == MO_OK; v++) {
            mo_plan_value *value = &s.values.items[v];
            int seen = value->view_of;

            assert(seen < v);
            if (seen == MO_PLAN_NONE)
                continue;
            status = replicate_value(&s, seen, value->device, value->item,
                                     &seen, err);
            s.values.items[v].view_of = seen;
        }
    }
    if (status == MO_OK) {
        for (int c = 0; c < s.plan->n_calls; c++) {
            const mo_plan_call *it = &s.plan->calls[c];

            for (int i = 0; i < it->call.n_in && status == MO_OK; i++)
                status = replicate_value(&s, it->call.in[i], it->device,
                                         it->item, &it->call.in[i], err);
        }
    }
    if (status == MO_OK)
        status = mo_plan_values_commit(&s.values, plan, err);
    if (status == MO_OK)
        status = write_transfers(&s, start_ns, err);
    free(s.pending);
    free(s.replicas);
    free(s.first_replica);
    mo_plan_values_clear(&s.values);
    free(s.times.matched);
    return status;
}
