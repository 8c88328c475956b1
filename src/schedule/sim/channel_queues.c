/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/channel_queues.h"

#include <stdlib.h>

#include "schedule/resource.h"

static int resources_of(const mo_channel_queues *l, int lane, int pair[2],
                        const int **ids)
{
    int n = l->x->n_devices;

    return mo_resource_list(l->x, l->congestion, lane / n, lane % n, pair, ids);
}

static bool share(const mo_channel_queues *l, int lane, int other)
{
    int pair[2], other_pair[2];
    const int *ids, *other_ids;
    int n = resources_of(l, lane, pair, &ids);
    int n_other = resources_of(l, other, other_pair, &other_ids);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n_other; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
}

static void find_rivals(mo_channel_queues *l)
{
    for (int lane = 0; lane < l->n; lane++)
        for (int other = 0; other < l->n; other++)
            if (share(l, lane, other))
                l->rivals[lane] |= UINT64_C(1) << other;
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
                              .few = n <= MO_CHANNEL_QUEUES_FEW };
    l->open = calloc((size_t) n + 1, sizeof *l->open);
    l->queue = malloc(((size_t) n + 1) * sizeof *l->queue);
    l->rivals = calloc(MO_CHANNEL_QUEUES_FEW, sizeof *l->rivals);
    l->held = calloc((size_t) n_resources + 1, sizeof *l->held);
    l->crowded = malloc(((size_t) n + 1) * sizeof *l->crowded);
    if (!l->open || !l->queue || !l->rivals || !l->held || !l->crowded) {
        mo_channel_queues_close(l);
        return mo_fail_memory(err);
    }
    for (int lane = 0; lane < n; lane++) {
        l->open[lane] = resources_of(l, lane, pair, &ids) == 0;
        l->some_open |= l->open[lane] && lane % (x->n_devices + 1) != 0;
        l->queue[lane] = MO_PAIRING_HEAP_EMPTY;
    }
    if (l->few)
        find_rivals(l);
    return MO_OK;
}

void mo_channel_queues_close(mo_channel_queues *l)
{
    free(l->crowded);
    free(l->held);
    free(l->rivals);
    free(l->queue);
    free(l->open);
}

void mo_channel_queues_reset(mo_channel_queues *l)
{
    for (int i = 0; i < l->n_crowded; i++)
        l->queue[l->crowded[i]] = MO_PAIRING_HEAP_EMPTY;
    l->n_crowded = 0;
    if (!l->few) {
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
    for (int i = 0; i < l->n_crowded; i++)
        n = mo_pairing_heap_list(h, l->queue[l->crowded[i]], list, n);
    return n;
}

void mo_channel_queues_push_many(mo_channel_queues *l, const mo_pairing_heap *h,
                                 int lane, int it)
{
    if (l->queue[lane] == MO_PAIRING_HEAP_EMPTY)
        l->crowded[l->n_crowded++] = lane;
    mo_pairing_heap_push(h, &l->queue[lane], it);
}

void mo_channel_queues_set_held_many(mo_channel_queues *l, int lane, bool hold)
{
    int pair[2];
    const int *ids;
    int n = resources_of(l, lane, pair, &ids);

    for (int i = 0; i < n; i++)
        l->held[ids[i]] = hold;
}

static bool is_free(const mo_channel_queues *l, int lane)
{
    int pair[2];
    const int *ids;
    int n = resources_of(l, lane, pair, &ids);

    for (int i = 0; i < n; i++)
        if (l->held[ids[i]])
            return false;
    return true;
}

int mo_channel_queues_pop_many(mo_channel_queues *l, const mo_pairing_heap *h,
                               int *it)
{
    int best = MO_CHANNEL_QUEUES_NONE, lane;

    for (int i = 0; i < l->n_crowded; i++) {
        lane = l->crowded[i];
        if ((best == MO_CHANNEL_QUEUES_NONE ||
             mo_pairing_heap_before(h, l->queue[lane],
                                    l->queue[l->crowded[best]])) &&
            is_free(l, lane))
            best = i;
    }
    if (best == MO_CHANNEL_QUEUES_NONE)
        return MO_CHANNEL_QUEUES_NONE;
    lane = l->crowded[best];
    *it = mo_pairing_heap_pop(h, &l->queue[lane]);
    if (l->queue[lane] == MO_PAIRING_HEAP_EMPTY)
        l->crowded[best] = l->crowded[--l->n_crowded];
    mo_channel_queues_set_held_many(l, lane, true);
    return lane;
}
