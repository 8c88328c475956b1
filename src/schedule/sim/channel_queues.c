/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/sim_internal.h"

#include <stdlib.h>

#include "schedule/resource.h"

static int channel_resources(const mo_channel_queues *l, int channel,
                             int pair[2], const int **ids)
{
    int n = l->x->n_devices;

    return mo_resource_list(l->x, l->congestion, channel / n, channel % n, pair,
                            ids);
}

mo_status mo_channel_queues_open(mo_channel_queues *l, const mo_instance *x,
                                 mo_congestion congestion, mo_error *err)
{
    int n = x->n_devices * x->n_devices, pair[2];
    int n_resources = mo_resource_count(x, congestion);
    const int *ids;

    *l = (mo_channel_queues){ .x = x,
                              .congestion = congestion,
                              .n = n,
                              .use_mask = n <= MO_CHANNEL_QUEUES_MASK_BITS };
    l->uncongested = calloc((size_t) n + 1, sizeof *l->uncongested);
    l->queue = malloc(((size_t) n + 1) * sizeof *l->queue);
    l->conflicts = calloc(MO_CHANNEL_QUEUES_MASK_BITS, sizeof *l->conflicts);
    if (!l->use_mask && congestion == MO_CONGESTION_PORT &&
        x->n_devices <= MO_CHANNEL_QUEUES_MASK_BITS) {
        l->receivers = calloc((size_t) x->n_devices, sizeof *l->receivers);
        if (!l->receivers)
            return mo_fail_memory(err);
    }
    l->held = calloc((size_t) n_resources + 1, sizeof *l->held);
    l->nonempty = malloc(((size_t) n + 1) * sizeof *l->nonempty);
    if (!l->uncongested || !l->queue || !l->conflicts || !l->held ||
        !l->nonempty)
        return mo_fail_memory(err);
    for (int channel = 0; channel < n; channel++) {
        l->uncongested[channel] =
            channel_resources(l, channel, pair, &ids) == 0;
        l->any_uncongested |=
            l->uncongested[channel] && channel % (x->n_devices + 1) != 0;
        l->queue[channel] = MO_PAIRING_HEAP_EMPTY;
    }
    if (l->use_mask) {
        for (int channel = 0; channel < l->n; channel++)
            for (int other = 0; other < l->n; other++)
                if (mo_resource_is_shared(x, congestion, channel / x->n_devices,
                                          channel % x->n_devices,
                                          other / x->n_devices,
                                          other % x->n_devices))
                    l->conflicts[channel] |= UINT64_C(1) << other;
    }
    return MO_OK;
}

void mo_channel_queues_close(mo_channel_queues *l)
{
    free(l->nonempty);
    free(l->held);
    free(l->receivers);
    free(l->conflicts);
    free(l->queue);
    free(l->uncongested);
}

void mo_channel_queues_reset(mo_channel_queues *l)
{
    if (l->receivers) {
        for (uint64_t rest = l->senders; rest; rest &= rest - 1) {
            int from = __builtin_ctzll(rest);

            for (uint64_t to = l->receivers[from]; to; to &= to - 1)
                l->queue[from * l->x->n_devices + __builtin_ctzll(to)] =
                    MO_PAIRING_HEAP_EMPTY;
            l->receivers[from] = 0;
        }
        l->senders = l->busy_out = l->busy_in = 0;
        return;
    }
    for (int i = 0; i < l->n_nonempty; i++)
        l->queue[l->nonempty[i]] = MO_PAIRING_HEAP_EMPTY;
    l->n_nonempty = 0;
    if (!l->use_mask) {
        int n_resources = mo_resource_count(l->x, l->congestion);

        for (int r = 0; r < n_resources; r++)
            l->held[r] = false;
    }
    for (uint64_t rest = l->waiting; rest; rest &= rest - 1)
        l->queue[__builtin_ctzll(rest)] = MO_PAIRING_HEAP_EMPTY;
    l->waiting = l->active = l->blocked = 0;
}

int mo_channel_queues_list(const mo_channel_queues *l, const mo_pairing_heap *h,
                           int *list, int n)
{
    for (uint64_t rest = l->senders; rest; rest &= rest - 1) {
        int from = __builtin_ctzll(rest);

        for (uint64_t to = l->receivers[from]; to; to &= to - 1)
            n = mo_pairing_heap_list(
                h, l->queue[from * l->x->n_devices + __builtin_ctzll(to)], list,
                n);
    }
    for (uint64_t rest = l->waiting; rest; rest &= rest - 1)
        n = mo_pairing_heap_list(h, l->queue[__builtin_ctzll(rest)], list, n);
    for (int i = 0; i < l->n_nonempty; i++)
        n = mo_pairing_heap_list(h, l->queue[l->nonempty[i]], list, n);
    return n;
}

void mo_channel_queues_push_unmasked(mo_channel_queues *l,
                                     const mo_pairing_heap *h, int channel,
                                     int it)
{
    if (l->receivers) {
        int from = channel / l->x->n_devices, to = channel % l->x->n_devices;

        l->receivers[from] |= UINT64_C(1) << to;
        l->senders |= UINT64_C(1) << from;
    } else if (l->queue[channel] == MO_PAIRING_HEAP_EMPTY) {
        l->nonempty[l->n_nonempty++] = channel;
    }
    mo_pairing_heap_push(h, &l->queue[channel], it);
}

void mo_channel_queues_set_held_unmasked(mo_channel_queues *l, int channel,
                                         bool hold)
{
    int pair[2];
    const int *ids;
    int n;

    if (l->receivers) {
        uint64_t from = UINT64_C(1) << channel / l->x->n_devices;
        uint64_t to = UINT64_C(1) << channel % l->x->n_devices;

        l->busy_out = hold ? l->busy_out | from : l->busy_out & ~from;
        l->busy_in = hold ? l->busy_in | to : l->busy_in & ~to;
        return;
    }
    n = channel_resources(l, channel, pair, &ids);

    for (int i = 0; i < n; i++)
        l->held[ids[i]] = hold;
}

static bool is_channel_free(const mo_channel_queues *l, int channel)
{
    int pair[2];
    const int *ids;
    int n = channel_resources(l, channel, pair, &ids);

    for (int i = 0; i < n; i++)
        if (l->held[ids[i]])
            return false;
    return true;
}

static int pop_by_ports(mo_channel_queues *l, const mo_pairing_heap *h, int *it)
{
    int n = l->x->n_devices, sender = 0, receiver = 0;

    *it = MO_PAIRING_HEAP_EMPTY;
    for (uint64_t rest = l->senders & ~l->busy_out; rest; rest &= rest - 1) {
        int from = __builtin_ctzll(rest);

        for (uint64_t left = l->receivers[from] & ~l->busy_in; left;
             left &= left - 1) {
            int to = __builtin_ctzll(left), first = l->queue[from * n + to];

            if (*it == MO_PAIRING_HEAP_EMPTY ||
                mo_pairing_heap_before(h, first, *it)) {
                *it = first;
                sender = from;
                receiver = to;
            }
        }
    }
    if (*it == MO_PAIRING_HEAP_EMPTY)
        return MO_CHANNEL_QUEUES_NONE;
    mo_pairing_heap_pop(h, &l->queue[sender * n + receiver]);
    if (l->queue[sender * n + receiver] == MO_PAIRING_HEAP_EMPTY)
        l->receivers[sender] &= ~(UINT64_C(1) << receiver);
    if (l->receivers[sender] == 0)
        l->senders &= ~(UINT64_C(1) << sender);
    l->busy_out |= UINT64_C(1) << sender;
    l->busy_in |= UINT64_C(1) << receiver;
    return sender * n + receiver;
}

int mo_channel_queues_pop_unmasked(mo_channel_queues *l,
                                   const mo_pairing_heap *h, int *it)
{
    int best = MO_CHANNEL_QUEUES_NONE, channel;

    if (l->receivers)
        return pop_by_ports(l, h, it);
    for (int i = 0; i < l->n_nonempty; i++) {
        channel = l->nonempty[i];
        if ((best == MO_CHANNEL_QUEUES_NONE ||
             mo_pairing_heap_before(h, l->queue[channel],
                                    l->queue[l->nonempty[best]])) &&
            is_channel_free(l, channel))
            best = i;
    }
    if (best == MO_CHANNEL_QUEUES_NONE)
        return MO_CHANNEL_QUEUES_NONE;
    channel = l->nonempty[best];
    *it = mo_pairing_heap_pop(h, &l->queue[channel]);
    if (l->queue[channel] == MO_PAIRING_HEAP_EMPTY)
        l->nonempty[best] = l->nonempty[--l->n_nonempty];
    mo_channel_queues_set_held_unmasked(l, channel, true);
    return channel;
}
