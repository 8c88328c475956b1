/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/channel_queues.h"

#include <stdlib.h>

#include "schedule/resource.h"

static int channel_resources(const mo_channel_queues *l, int channel,
                             int pair[2], const int **ids)
{
    int n = l->x->n_devices;

    return mo_resource_list(l->x, l->congestion, channel / n, channel % n, pair,
                            ids);
}

static bool share_resource(const mo_channel_queues *l, int channel, int other)
{
    int pair[2], other_pair[2];
    const int *ids, *other_ids;
    int n = channel_resources(l, channel, pair, &ids);
    int n_other = channel_resources(l, other, other_pair, &other_ids);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n_other; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
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
                if (share_resource(l, channel, other))
                    l->conflicts[channel] |= UINT64_C(1) << other;
    }
    return MO_OK;
}

void mo_channel_queues_close(mo_channel_queues *l)
{
    free(l->nonempty);
    free(l->held);
    free(l->conflicts);
    free(l->queue);
    free(l->uncongested);
}

void mo_channel_queues_reset(mo_channel_queues *l)
{
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
    if (l->queue[channel] == MO_PAIRING_HEAP_EMPTY)
        l->nonempty[l->n_nonempty++] = channel;
    mo_pairing_heap_push(h, &l->queue[channel], it);
}

void mo_channel_queues_set_held_unmasked(mo_channel_queues *l, int channel,
                                         bool hold)
{
    int pair[2];
    const int *ids;
    int n = channel_resources(l, channel, pair, &ids);

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

int mo_channel_queues_pop_unmasked(mo_channel_queues *l,
                                   const mo_pairing_heap *h, int *it)
{
    int best = MO_CHANNEL_QUEUES_NONE, channel;

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
