/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discrete-event simulation of a plan.  A moment goes in rounds: what ends at
 * it ends, and what waited for that alone becomes ready; then every free
 * device starts the first of its ready ops, and of the transfers whose
 * resources are free the first start, until none can.  What takes no time ends
 * in the next round of the same moment.
 */
#include "schedule/sim/sim_internal.h"

void mo_sim_clear(mo_sim *s)
{
    s->now_ns = 0;
    s->end_ns = 0;
    s->asleep.first = MO_PAIRING_HEAP_EMPTY;
    s->slots.next = MO_PAIRING_HEAP_EMPTY;
    s->log.n = 0;
    for (int k = 0; k < s->n_devices; k++) {
        s->devices.ready[k] = MO_PAIRING_HEAP_EMPTY;
        s->devices.wakeup_mask[k / 64] = 0;
    }
    s->slots.busy = 0;
    for (int slot = 0; slot < s->slots.n; slot++)
        s->slots.node[slot] = MO_SIM_IDLE;
    mo_channel_queues_reset(&s->channels);
}

void mo_sim_wake_device(mo_sim *s, int device)
{
    s->devices.wakeup_mask[(unsigned) device / 64] |= UINT64_C(1)
                                                      << (unsigned) device % 64;
}

/* Prunes the run when the op and its tail cannot end before the cutoff. */
static inline void prune_by_tail(mo_sim *s, int op, int64_t from_ns)
{
    if (from_ns + s->prune.remaining_ns[op] >= s->prune.cutoff_ns)
        s->prune.is_reached = true;
}

static void sleep_until(mo_sim *s, int node, int64_t wake_ns)
{
    s->asleep.heap.key[node] = wake_ns;
    mo_pairing_heap_push(&s->asleep.heap, &s->asleep.first, node);
}

void mo_sim_op_ready(mo_sim *s, int op)
{
    int device = s->device[op];
    int64_t wake_ns = s->arrival_ns[op] > s->release_ns[op] ? s->arrival_ns[op]
                                                            : s->release_ns[op];

    prune_by_tail(s, op, wake_ns > s->now_ns ? wake_ns : s->now_ns);
    if (wake_ns > s->now_ns) {
        sleep_until(s, op, wake_ns);
        return;
    }
    mo_pairing_heap_push(&s->queue, &s->devices.ready[device], op);
    mo_sim_wake_device(s, device);
}

void mo_sim_begin(mo_sim *s)
{
    const mo_instance *x = s->x;

    for (int k = 0; k < s->n_devices; k++)
        s->devices.unstarted_ns[k] = 0;
    for (int i = 0; i < s->n; i++) {
        s->missing[i] = x->in_start[i + 1] - x->in_start[i];
        s->arrival_ns[i] = 0;
        s->devices.unstarted_ns[s->device[i]] += mo_sim_p_ns(s, i);
        if (s->missing[i] == 0) {
            s->ready_ns[i] = 0;
            mo_sim_op_ready(s, i);
        }
    }
}

void mo_sim_deliver_input(mo_sim *s, int op)
{
    if (--s->missing[op] > 0)
        return;
    s->ready_ns[op] = s->now_ns;
    mo_sim_op_ready(s, op);
}

void mo_sim_queue_transfer(mo_sim *s, int node)
{
    int64_t send_release_ns = s->send_release_ns[node - s->n];

    if (send_release_ns > s->now_ns)
        sleep_until(s, node, send_release_ns);
    else
        mo_channel_queues_push(&s->channels, &s->queue, mo_sim_channel(s, node),
                               node);
}

void mo_sim_occupy(mo_sim *s, int slot, int node, int64_t end_ns)
{
    s->slots.node[slot] = node;
    s->slots.heap.key[slot] = end_ns;
    if (s->slots.n > MO_SIM_FEW_SLOTS)
        mo_pairing_heap_push(&s->slots.heap, &s->slots.next, slot);
    else
        s->slots.busy |= UINT64_C(1) << slot;
}

int64_t mo_sim_send_key(const mo_sim *s, int node)
{
    const mo_flow *flow = mo_sim_flow(s, node);
    int64_t key = s->send_key[node - s->n];

    if (!s->once)
        return key;
    for (int q = node - s->n + 1; q < s->x->tensor_start[flow->tensor + 1]; q++)
        if (s->device[s->x->flows[q].to] == s->device[flow->to] &&
            s->send_key[q] < key)
            key = s->send_key[q];
    return key;
}

static inline void log_start(mo_sim *s, int node)
{
    s->start_ns[node] = s->now_ns;
    s->log.nodes[s->log.n++] = node;
}

void mo_sim_deliver_uncongested(mo_sim *s, int q, int channel, int op)
{
    int64_t arrival_ns = s->now_ns + mo_sim_channel_ns(s, s->n + q, channel);

    if (arrival_ns > s->arrival_ns[op])
        s->arrival_ns[op] = arrival_ns;
    mo_sim_deliver_input(s, op);
}

void mo_sim_start_transfer(mo_sim *s, int node)
{
    s->ready_ns[node] = s->now_ns;
    mo_sim_queue_transfer(s, node);
}

static inline void send_flow(mo_sim *s, int from, int q)
{
    int op = s->x->flows[q].to, to = s->device[op];
    int channel = from * s->n_devices + to;

    if (to == from) {
        mo_sim_deliver_input(s, op);
    } else if (s->channels.uncongested[channel]) {
        mo_sim_deliver_uncongested(s, q, channel, op);
    } else {
        s->queue.key[s->n + q] = s->send_key[q];
        mo_sim_start_transfer(s, s->n + q);
    }
}

/* Sends a tensor with the flows [first, last) once to each device. */
static void send_tensor(mo_sim *s, int from, int first, int last)
{
    const mo_instance *x = s->x;

    s->bundle.stamp++;
    for (int q = first; q < last; q++) {
        int to = s->device[x->flows[q].to], node = s->n + q;
        int channel = from * s->n_devices + to;

        if (to == from) {
            mo_sim_deliver_input(s, x->flows[q].to);
        } else if (s->channels.uncongested[channel]) {
            mo_sim_deliver_uncongested(s, q, channel, x->flows[q].to);
        } else if (s->bundle.device_stamp[to] != s->bundle.stamp) {
            s->bundle.device_stamp[to] = s->bundle.stamp;
            s->bundle.node[to] = node;
            s->queue.key[node] = s->send_key[q];
        } else if (s->send_key[q] < s->queue.key[s->bundle.node[to]]) {
            s->queue.key[s->bundle.node[to]] = s->send_key[q];
        }
    }
    for (int q = first; q < last; q++) {
        int to = s->device[x->flows[q].to];

        if (s->bundle.device_stamp[to] == s->bundle.stamp &&
            s->bundle.node[to] == s->n + q)
            mo_sim_start_transfer(s, s->n + q);
    }
}

static void raise_release(int64_t *from_ns, int64_t to_ns)
{
    *from_ns = to_ns > *from_ns ? to_ns : *from_ns;
}

/* Applies the time lags that begin with the op's end, now that it is known. */
static void apply_time_lags(mo_sim *s, int op)
{
    int low = 0, high = s->lags.n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (s->lags.list[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->lags.n && s->lags.list[low].op == op; low++) {
        const mo_sim_time_lag *it = &s->lags.list[low];
        const int *start = s->x->tensor_start;
        int item = it->succ_item;
        int first = it->succ_op >= 0 ? 0 : s->once ? start[item] : item;
        int last = it->succ_op >= 0 ? 0 : s->once ? start[item + 1] : item + 1;

        if (it->succ_op >= 0)
            raise_release(&s->release_ns[it->succ_op], s->now_ns + it->lag_ns);
        for (int q = first; q < last; q++)
            raise_release(&s->send_release_ns[q], s->now_ns + it->lag_ns);
    }
}

static void end_transfer(mo_sim *s, int node)
{
    const mo_instance *x = s->x;
    const mo_flow *flow = mo_sim_flow(s, node);
    int to = s->device[flow->to];

    mo_channel_queues_release(&s->channels, mo_sim_channel(s, node));
    mo_sim_deliver_input(s, flow->to);
    if (!s->once)
        return;
    for (int q = node - s->n + 1; q < x->tensor_start[flow->tensor + 1]; q++)
        if (s->device[x->flows[q].to] == to)
            mo_sim_deliver_input(s, x->flows[q].to);
}

static void end_slot(mo_sim *s, int slot)
{
    int node = s->slots.node[slot];

    s->slots.node[slot] = MO_SIM_IDLE;
    if (s->backward) {
        mo_sim_end_backward(s, node);
    } else if (!mo_sim_is_op(s, node)) {
        end_transfer(s, node);
    } else {
        if (s->lags.n > 0)
            apply_time_lags(s, node);
        mo_sim_wake_device(s, s->device[node]);
        const mo_instance *x = s->x;
        int last;

        for (int q = x->out_start[node]; q < x->out_start[node + 1]; q = last) {
            last = s->once ? x->tensor_start[x->flows[q].tensor + 1] : q + 1;
            if (last == q + 1)
                send_flow(s, s->device[node], q);
            else
                send_tensor(s, s->device[node], q, last);
        }
    }
}

/* Returns the next end of a slot; where slots are few, sets due to all that
 * end then. */
static int64_t next_end_ns(mo_sim *s)
{
    int64_t next_ns = INT64_MAX;

    if (s->slots.n > MO_SIM_FEW_SLOTS)
        return s->slots.next == MO_PAIRING_HEAP_EMPTY
                   ? INT64_MAX
                   : s->slots.heap.key[s->slots.next];
    s->slots.due = 0;
    for (uint64_t rest = s->slots.busy; rest; rest &= rest - 1) {
        int64_t end_ns = s->slots.heap.key[__builtin_ctzll(rest)];

        if (end_ns > next_ns)
            continue;
        if (end_ns < next_ns)
            s->slots.due = 0;
        s->slots.due |= rest & -rest;
        next_ns = end_ns;
    }
    return next_ns;
}

static void end_slots(mo_sim *s)
{
    if (s->slots.n > MO_SIM_FEW_SLOTS) {
        while (s->slots.next != MO_PAIRING_HEAP_EMPTY &&
               s->slots.heap.key[s->slots.next] == s->now_ns)
            end_slot(s, mo_pairing_heap_pop(&s->slots.heap, &s->slots.next));
        return;
    }
    s->slots.busy &= ~s->slots.due;
    for (uint64_t rest = s->slots.due; rest; rest &= rest - 1)
        end_slot(s, __builtin_ctzll(rest));
}

/* Advances the clock to the next event; returns false when there is none. */
static bool advance_clock(mo_sim *s)
{
    int64_t end_ns = next_end_ns(s);

    if (s->asleep.first != MO_PAIRING_HEAP_EMPTY &&
        s->asleep.heap.key[s->asleep.first] < end_ns) {
        s->slots.due = 0;
        end_ns = s->asleep.heap.key[s->asleep.first];
    }
    if (end_ns == INT64_MAX)
        return false;
    s->now_ns = end_ns;
    end_slots(s);
    while (s->asleep.first != MO_PAIRING_HEAP_EMPTY &&
           s->asleep.heap.key[s->asleep.first] <= s->now_ns) {
        int node = mo_pairing_heap_pop(&s->asleep.heap, &s->asleep.first);

        if (!mo_sim_is_op(s, node)) {
            mo_sim_queue_transfer(s, node);
            continue;
        }
        mo_pairing_heap_push(&s->queue, &s->devices.ready[s->device[node]],
                             node);
        mo_sim_wake_device(s, s->device[node]);
    }
    return true;
}

int64_t mo_sim_run_events(mo_sim *s, int64_t cutoff_ns)
{
    s->prune.cutoff_ns = cutoff_ns;
    s->prune.is_reached = false;
    do {
        int channel, node;

        for (int w = 0; w * 64 < s->n_devices; w++) {
            uint64_t rest = s->devices.wakeup_mask[w];

            s->devices.wakeup_mask[w] = 0;
            for (; rest; rest &= rest - 1) {
                int device = w * 64 + __builtin_ctzll(rest);

                if (s->slots.node[device] == MO_SIM_IDLE &&
                    s->devices.ready[device] != MO_PAIRING_HEAP_EMPTY) {
                    int op = mo_pairing_heap_pop(&s->queue,
                                                 &s->devices.ready[device]);
                    int64_t p_ns = mo_sim_p_ns(s, op);

                    s->prune.is_reached |=
                        s->now_ns + s->prune.remaining_ns[op] >=
                            s->prune.cutoff_ns ||
                        s->now_ns + s->devices.unstarted_ns[device] +
                                s->prune.min_tail_ns[device] >=
                            s->prune.cutoff_ns;
                    s->devices.unstarted_ns[device] -= p_ns;
                    log_start(s, op);
                    if (s->now_ns + p_ns > s->end_ns)
                        s->end_ns = s->now_ns + p_ns;
                    mo_sim_occupy(s, device, op, s->now_ns + p_ns);
                }
            }
        }
        while (
            (channel = mo_channel_queues_pop(&s->channels, &s->queue, &node)) !=
            MO_CHANNEL_QUEUES_NONE) {
            int64_t end_ns = s->now_ns + mo_sim_channel_ns(s, node, channel);

            log_start(s, node);
            prune_by_tail(s, mo_sim_flow(s, node)->to, end_ns);
            mo_sim_occupy(s, mo_sim_slot(s, channel), node, end_ns);
        }
        if (s->prune.is_reached)
            return INT64_MAX;
        if (s->log.n >= s->checkpoint.at)
            s->checkpoint.take(s->checkpoint.context);
    } while (advance_clock(s));
    return s->end_ns < cutoff_ns ? s->end_ns : INT64_MAX;
}
