/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_lane.h - transfers that wait, by where they go from and to, and which of
 * them may start.
 *
 * A lane is an ordered pair of devices; all its transfers hold the same
 * resources.  Where the lanes are few, those that share a resource with a busy
 * one are the bits of a word; else resources are looked up.
 */
#ifndef MO_SCHEDULE_SIM_CHANNEL_QUEUES_H
#define MO_SCHEDULE_SIM_CHANNEL_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/sim/pairing_heap.h"

enum { MO_CHANNEL_QUEUES_FEW = 64, MO_CHANNEL_QUEUES_NONE = -1 };

typedef struct mo_channel_queues {
    const mo_instance *x;
    mo_congestion congestion;
    int n;      /* devices squared; from a to b is a * n_devices + b */
    bool few;   /* they fit a word */
    bool *open; /* by lane: holds nothing, nothing ever waits */
    bool some_open;
    int *queue; /* by lane: what waits */

    uint64_t waiting, active, blocked; /* few: by lane */
    uint64_t *rivals;                  /* few: by lane, itself included */

    bool *held;              /* many: by resource */
    int *crowded, n_crowded; /* many: lanes where something waits */
} mo_channel_queues;

mo_status mo_channel_queues_open(mo_channel_queues *l, const mo_instance *x,
                                 mo_congestion congestion, mo_error *err);
void mo_channel_queues_close(mo_channel_queues *l);

/* Nothing waits and nothing is under way. */
void mo_channel_queues_reset(mo_channel_queues *l);

/* Appends all that waits to the n of a list; returns how many there are then.
 */
int mo_channel_queues_list(const mo_channel_queues *l, const mo_pairing_heap *h,
                           int *list, int n);

/* For those below: the same where lanes are many. */
void mo_channel_queues_push_many(mo_channel_queues *l, const mo_pairing_heap *h,
                                 int lane, int it);
int mo_channel_queues_pop_many(mo_channel_queues *l, const mo_pairing_heap *h,
                               int *it);
void mo_channel_queues_set_held_many(mo_channel_queues *l, int lane, bool hold);

/* Something waits from now on. */
static inline void mo_channel_queues_push(mo_channel_queues *l,
                                          const mo_pairing_heap *h, int lane,
                                          int it)
{
    if (!l->few) {
        mo_channel_queues_push_many(l, h, lane, it);
        return;
    }
    mo_pairing_heap_push(h, &l->queue[lane], it);
    l->waiting |= UINT64_C(1) << lane;
}

/* The lane is busy from now on. */
static inline void mo_channel_queues_acquire(mo_channel_queues *l, int lane)
{
    if (!l->few) {
        mo_channel_queues_set_held_many(l, lane, true);
        return;
    }
    l->active |= UINT64_C(1) << lane;
    l->blocked |= l->rivals[lane];
}

/* And no more. */
static inline void mo_channel_queues_release(mo_channel_queues *l, int lane)
{
    if (!l->few) {
        mo_channel_queues_set_held_many(l, lane, false);
        return;
    }
    l->active &= ~(UINT64_C(1) << lane);
    l->blocked = 0;
    for (uint64_t rest = l->active; rest; rest &= rest - 1)
        l->blocked |= l->rivals[__builtin_ctzll(rest)];
}

/* Of all that could start at once takes the first, and its lane is busy from
 * now on; MO_CHANNEL_QUEUES_NONE: nothing could. */
static inline int mo_channel_queues_pop(mo_channel_queues *l,
                                        const mo_pairing_heap *h, int *it)
{
    uint64_t rest = l->waiting & ~l->blocked;
    int best;

    if (!l->few)
        return mo_channel_queues_pop_many(l, h, it);
    if (!rest)
        return MO_CHANNEL_QUEUES_NONE;
    best = __builtin_ctzll(rest);
    while (rest &= rest - 1) {
        int lane = __builtin_ctzll(rest);

        if (mo_pairing_heap_before(h, l->queue[lane], l->queue[best]))
            best = lane;
    }
    *it = mo_pairing_heap_pop(h, &l->queue[best]);
    if (l->queue[best] == MO_PAIRING_HEAP_EMPTY)
        l->waiting &= ~(UINT64_C(1) << best);
    mo_channel_queues_acquire(l, best);
    return best;
}

#endif
