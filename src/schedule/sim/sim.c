/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/sim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/serial_makespan.h"
#include "schedule/sim/sim_internal.h"
#include "schedule/sim/tail_bound.h"

static bool make_heap(mo_pairing_heap *h, int n)
{
    size_t room = (size_t) n + 1;

    h->child = malloc(room * sizeof *h->child);
    h->next = malloc(room * sizeof *h->next);
    h->key = calloc(room, sizeof *h->key);
    return h->child && h->next && h->key;
}

static void drop_heap(mo_pairing_heap *h)
{
    free(h->key);
    free(h->next);
    free(h->child);
}

static bool make_plan(mo_sim *s)
{
    size_t n = (size_t) s->n + 1, n_flows = (size_t) s->x->n_flows + 1;

    s->row = malloc(n_flows * sizeof *s->row);
    s->device = calloc(n, sizeof *s->device);
    s->release_ns = calloc(n, sizeof *s->release_ns);
    s->send_key = calloc(n_flows, sizeof *s->send_key);
    s->hold_ns = calloc(n_flows, sizeof *s->hold_ns);
    s->rest_ns = calloc(n, sizeof *s->rest_ns);
    s->least_tail_ns =
        calloc((size_t) s->n_devices + 1, sizeof *s->least_tail_ns);
    return s->row && s->device && s->release_ns && s->send_key && s->hold_ns &&
           s->rest_ns && s->least_tail_ns && make_heap(&s->queue, s->n_nodes);
}

static bool make_moment(mo_sim *s)
{
    size_t n = (size_t) s->n + 1, n_devices = (size_t) s->n_devices + 1;

    s->missing = calloc((size_t) s->n_nodes + 1, sizeof *s->missing);
    s->arrival_ns = calloc(n, sizeof *s->arrival_ns);
    s->wake = s->queue; /* a node is never in both */
    s->wake.key = calloc((size_t) s->n_nodes + 1, sizeof *s->wake.key);
    s->ready = calloc(n_devices, sizeof *s->ready);
    s->called = calloc(n_devices / 64 + 1, sizeof *s->called);
    s->left_ns = calloc(n_devices, sizeof *s->left_ns);
    s->seen = calloc(n_devices, sizeof *s->seen);
    s->bundle = calloc(n_devices, sizeof *s->bundle);
    s->slot_node = calloc((size_t) s->n_slots + 1, sizeof *s->slot_node);
    return s->missing && s->arrival_ns && s->wake.key && s->ready &&
           s->called && s->left_ns && s->seen && s->bundle && s->slot_node &&
           make_heap(&s->slots, s->n_slots);
}

static bool make_log(mo_sim *s)
{
    size_t n = (size_t) s->n_nodes + 1;

    s->log = calloc(n, sizeof *s->log);
    s->ready_ns = calloc(n, sizeof *s->ready_ns);
    s->start_ns = calloc(n, sizeof *s->start_ns);
    return s->log && s->ready_ns && s->start_ns;
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

static void fill_rows(mo_sim *s)
{
    const mo_instance *x = s->x;

    for (int q = 0; q < x->n_flows; q++)
        s->row[q] =
            s->once ? x->tensor_row[x->flows[q].tensor] : x->flow_row[q];
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
    s->n_slots = count_slots(x, regime->congestion);
    s->mark_at = INT_MAX;
    status = mo_channel_queues_open(&s->lanes, x, regime->congestion, err);
    if (status == MO_OK && !(make_plan(s) && make_moment(s) && make_log(s)))
        status = mo_fail_memory(err);
    if (status != MO_OK) {
        mo_sim_free(s);
        return status;
    }
    fill_rows(s);
    *sim = s;
    return MO_OK;
}

void mo_sim_free(mo_sim *s)
{
    if (!s)
        return;
    mo_channel_queues_close(&s->lanes);
    free(s->start_ns);
    free(s->ready_ns);
    free(s->log);
    drop_heap(&s->slots);
    free(s->slot_node);
    free(s->carrier);
    free(s->bundle);
    free(s->seen);
    free(s->left_ns);
    free(s->called);
    free(s->ready);
    free(s->wake.key);
    free(s->arrival_ns);
    free(s->missing);
    drop_heap(&s->queue);
    free(s->least_tail_ns);
    free(s->rest_ns);
    free(s->hold_ns);
    free(s->send_key);
    free(s->release_ns);
    free(s->device);
    free(s->row);
    free(s);
}

void mo_sim_load_plan(mo_sim *s, const mo_sim_plan *plan)
{
    const mo_instance *x = s->x;

    memcpy(s->device, plan->device, (size_t) s->n * sizeof *s->device);
    s->after = plan->after;
    s->n_after = plan->n_after;
    for (int i = 0; i < s->n; i++) {
        s->queue.key[i] = plan->rank[i];
        s->release_ns[i] = plan->release_ns ? plan->release_ns[i] : 0;
    }
    for (int q = 0; q < x->n_flows; q++) {
        int item = s->once ? x->flows[q].tensor : q;

        s->send_key[q] = plan->send_rank ? plan->send_rank[item]
                                         : plan->rank[x->flows[q].to];
        s->hold_ns[q] = plan->hold_ns ? plan->hold_ns[item] : 0;
    }
    mo_tail_bounds_find(s);
}

int64_t mo_sim_run(mo_sim *s, const mo_sim_plan *plan, int64_t give_up_ns)
{
    mo_sim_load_plan(s, plan);
    mo_sim_clear(s);
    mo_sim_begin(s);
    return mo_sim_run_events(s, give_up_ns);
}

/* The first of a tensor's flows to a device. */
static int first_flow(const mo_instance *x, const mo_schedule *s,
                      const mo_transfer *t)
{
    int q = x->tensor_start[t->item];

    while (s->device[x->flows[q].to] != t->to)
        q++;
    return q;
}

static void tell_transfer(const mo_sim *s, const mo_schedule *to,
                          const int64_t *start_ns, mo_transfer *t)
{
    int q = s->once ? first_flow(s->x, to, t) : t->item;
    int from = s->x->flows[q].from;
    int lane = t->from * s->n_devices + t->to;

    t->start_ns = s->lanes.open[lane]
                      ? start_ns[from] + mo_instance_p_ns(s->x, from, t->from)
                      : start_ns[s->n + q];
    t->end_ns = t->start_ns + mo_sim_channel_ns(s, s->n + q, lane);
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
    for (int i = 0; i < to->n_transfers; i++)
        tell_transfer(s, to, start_ns, &to->transfers[i]);
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
