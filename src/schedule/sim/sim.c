/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/sim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/serial_makespan.h"
#include "schedule/sim/sim_internal.h"
#include "schedule/sim/tail_bound.h"

static bool alloc_heap(mo_pairing_heap *h, int n)
{
    size_t room = (size_t) n + 1;

    h->child = malloc(room * sizeof *h->child);
    h->next = malloc(room * sizeof *h->next);
    h->key = calloc(room, sizeof *h->key);
    return h->child && h->next && h->key;
}

static void free_heap(mo_pairing_heap *h)
{
    free(h->key);
    free(h->next);
    free(h->child);
}

static bool alloc_plan(mo_sim *s)
{
    size_t n = (size_t) s->n + 1, n_flows = (size_t) s->x->n_flows + 1;

    s->row = malloc(n_flows * sizeof *s->row);
    s->device = calloc(n, sizeof *s->device);
    s->release_ns = calloc(n, sizeof *s->release_ns);
    s->send_key = calloc(n_flows, sizeof *s->send_key);
    s->send_release_ns = calloc(n_flows, sizeof *s->send_release_ns);
    s->prune.remaining_ns = calloc(n, sizeof *s->prune.remaining_ns);
    s->prune.min_tail_ns =
        calloc((size_t) s->n_devices + 1, sizeof *s->prune.min_tail_ns);
    return s->row && s->device && s->release_ns && s->send_key &&
           s->send_release_ns && s->prune.remaining_ns &&
           s->prune.min_tail_ns && alloc_heap(&s->queue, s->n_nodes);
}

static bool alloc_state(mo_sim *s)
{
    size_t n = (size_t) s->n + 1, n_devices = (size_t) s->n_devices + 1;

    s->missing = calloc((size_t) s->n_nodes + 1, sizeof *s->missing);
    s->arrival_ns = calloc(n, sizeof *s->arrival_ns);
    s->asleep.heap = s->queue; /* a node is never in both */
    s->asleep.heap.key =
        calloc((size_t) s->n_nodes + 1, sizeof *s->asleep.heap.key);
    s->devices.ready = calloc(n_devices, sizeof *s->devices.ready);
    s->devices.wakeup_mask =
        calloc(n_devices / 64 + 1, sizeof *s->devices.wakeup_mask);
    s->devices.unstarted_ns =
        calloc(n_devices, sizeof *s->devices.unstarted_ns);
    s->bundle.device_stamp = calloc(n_devices, sizeof *s->bundle.device_stamp);
    s->bundle.node = calloc(n_devices, sizeof *s->bundle.node);
    s->slots.node = calloc((size_t) s->slots.n + 1, sizeof *s->slots.node);
    s->log.nodes = calloc((size_t) s->n_nodes + 1, sizeof *s->log.nodes);
    s->ready_ns = calloc((size_t) s->n_nodes + 1, sizeof *s->ready_ns);
    s->start_ns = calloc((size_t) s->n_nodes + 1, sizeof *s->start_ns);
    return s->missing && s->arrival_ns && s->asleep.heap.key &&
           s->devices.ready && s->devices.wakeup_mask &&
           s->devices.unstarted_ns && s->bundle.device_stamp &&
           s->bundle.node && s->slots.node && s->log.nodes && s->ready_ns &&
           s->start_ns && alloc_heap(&s->slots.heap, s->slots.n);
}

static int count_slots(const mo_instance *x, mo_congestion congestion)
{
    switch (congestion) {
    case MO_CONGESTION_PORT:
        return 2 * x->n_devices;
    case MO_CONGESTION_CHANNEL:
    case MO_CONGESTION_LINK:
        return x->n_devices + x->n_devices * x->n_devices;
    case MO_CONGESTION_NONE:
        break;
    }
    return x->n_devices;
}

mo_status mo_sim_new(const mo_instance *x, const mo_regime *regime,
                     mo_sim **sim, mo_error *err)
{
    int64_t serial_ns;
    mo_status status = mo_serial_makespan(x, regime, &serial_ns, err);
    mo_sim *s = status == MO_OK ? calloc(1, sizeof *s) : NULL;

    if (status != MO_OK)
        return status;
    if (!s)
        return mo_fail_memory(err);
    s->x = x;
    s->regime = *regime;
    s->once = regime->tensors == MO_TENSORS_ONCE;
    s->n = x->n;
    s->n_devices = x->n_devices;
    s->n_nodes = x->n + x->n_flows;
    s->slots.n = count_slots(x, regime->congestion);
    s->checkpoint.at = INT_MAX;
    status = mo_channel_queues_open(&s->channels, x, regime->congestion, err);
    if (status == MO_OK && !(alloc_plan(s) && alloc_state(s)))
        status = mo_fail_memory(err);
    if (status != MO_OK) {
        mo_sim_free(s);
        return status;
    }
    for (int q = 0; q < s->x->n_flows; q++)
        s->row[q] = s->once ? s->x->comm.tensor_row[s->x->flows[q].tensor]
                            : s->x->comm.flow_row[q];
    *sim = s;
    return MO_OK;
}

void mo_sim_free(mo_sim *s)
{
    if (!s)
        return;
    mo_channel_queues_close(&s->channels);
    free(s->start_ns);
    free(s->ready_ns);
    free(s->log.nodes);
    free_heap(&s->slots.heap);
    free(s->slots.node);
    free(s->carrier);
    free(s->bundle.node);
    free(s->bundle.device_stamp);
    free(s->devices.unstarted_ns);
    free(s->devices.wakeup_mask);
    free(s->devices.ready);
    free(s->asleep.heap.key);
    free(s->arrival_ns);
    free(s->missing);
    free_heap(&s->queue);
    free(s->prune.min_tail_ns);
    free(s->prune.remaining_ns);
    free(s->send_release_ns);
    free(s->send_key);
    free(s->release_ns);
    free(s->device);
    free(s->row);
    free(s);
}

/* Copies the plan; the time lags are borrowed. */
static void load_plan(mo_sim *s, const mo_sim_plan *plan)
{
    const mo_instance *x = s->x;

    memcpy(s->device, plan->device, (size_t) s->n * sizeof *s->device);
    s->lags.list = plan->lags;
    s->lags.n = plan->n_lags;
    for (int i = 0; i < s->n; i++) {
        s->queue.key[i] = plan->rank[i];
        s->release_ns[i] = plan->release_ns ? plan->release_ns[i] : 0;
    }
    for (int q = 0; q < x->n_flows; q++) {
        int item = s->once ? x->flows[q].tensor : q;

        s->send_key[q] = plan->send_rank ? plan->send_rank[item]
                                         : plan->rank[x->flows[q].to];
        s->send_release_ns[q] =
            plan->send_release_ns ? plan->send_release_ns[item] : 0;
    }
    mo_tail_bounds_find(s);
}

int64_t mo_sim_run(mo_sim *s, const mo_sim_plan *plan, int64_t cutoff_ns)
{
    load_plan(s, plan);
    mo_sim_clear(s);
    mo_sim_begin(s);
    return mo_sim_run_events(s, cutoff_ns);
}

mo_status mo_sim_extract_schedule(const mo_sim *s, const int *device,
                                  const int64_t *start_ns,
                                  mo_schedule **schedule, mo_error *err)
{
    mo_schedule *to = NULL;
    mo_status status = mo_schedule_new(s->x, &s->regime, device, &to, err);

    if (status != MO_OK)
        return status;
    memcpy(to->start_ns, start_ns, (size_t) s->n * sizeof *to->start_ns);
    for (int i = 0; i < to->n_transfers; i++) {
        mo_transfer *t = &to->transfers[i];
        int q = s->once ? s->x->tensor_start[t->item] : t->item;
        int from = s->x->flows[q].from;
        int channel = t->from * s->n_devices + t->to;

        /* The first of a tensor's flows to the device. */
        while (s->once && to->device[s->x->flows[q].to] != t->to)
            q++;
        t->start_ns =
            s->channels.uncongested[channel]
                ? start_ns[from] + mo_instance_p_ns(s->x, from, t->from)
                : start_ns[s->n + q];
        t->end_ns = t->start_ns + mo_sim_channel_ns(s, s->n + q, channel);
    }
    status = mo_schedule_left_shift(s->x, to, err);
    if (status == MO_OK)
        *schedule = to;
    else
        mo_schedule_free(to);
    return status;
}

mo_status mo_sim_schedule(mo_sim *s, const mo_sim_plan *plan,
                          mo_schedule **schedule, mo_error *err)
{
    mo_sim_run(s, plan, INT64_MAX);
    return mo_sim_extract_schedule(s, s->device, s->start_ns, schedule, err);
}
