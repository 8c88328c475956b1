/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_queues.h - queues of waiting transfers by channel, and conflicts
 * among channels.
 *
 * A channel is an ordered pair of devices; all its transfers hold the same
 * resources.  Up to MO_CHANNEL_QUEUES_MASK_BITS channels are the bits of a
 * word, and those that share a resource with a busy one are masked out; with
 * more channels, but no more ports than that, the receivers of each sender are;
 * else resources are looked up.
 */
#ifndef MO_SCHEDULE_SIM_CHANNEL_QUEUES_H
#define MO_SCHEDULE_SIM_CHANNEL_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/sim/pairing_heap.h"

enum { MO_CHANNEL_QUEUES_MASK_BITS = 64, MO_CHANNEL_QUEUES_NONE = -1 };

typedef struct mo_channel_queues {
    const mo_instance *x;
    mo_congestion congestion;
    int n;             /* devices squared; from a to b is a * n_devices + b */
    bool use_mask;     /* the channels fit a word */
    bool *uncongested; /* by channel: holds no resource, nothing ever waits */
    bool any_uncongested;
    int *queue; /* by channel: heap of waiting transfers */

    uint64_t waiting, active, blocked; /* use_mask: by channel */
    uint64_t *conflicts; /* use_mask: by channel, itself included */

    uint64_t *receivers; /* by sender: bits of its nonempty queues; NULL: not
                            by ports */
    uint64_t senders, busy_out, busy_in; /* by device */

    bool *held;                /* otherwise: by resource */
    int *nonempty, n_nonempty; /* otherwise: channels with waiting transfers */
} mo_channel_queues;

/* The caller closes l whatever the result. */
mo_status mo_channel_queues_open(mo_channel_queues *l, const mo_instance *x,
                                 mo_congestion congestion, mo_error *err);
void mo_channel_queues_close(mo_channel_queues *l);

/* Empties all queues and releases all resources. */
void mo_channel_queues_reset(mo_channel_queues *l);

/* Appends all waiting transfers to the n entries of list, a buffer with room
 * for all nodes; returns the new number of entries. */
int mo_channel_queues_list(const mo_channel_queues *l, const mo_pairing_heap *h,
                           int *list, int n);

/* Implementation of the functions below without masks. */
void mo_channel_queues_push_unmasked(mo_channel_queues *l,
                                     const mo_pairing_heap *h, int channel,
                                     int it);
int mo_channel_queues_pop_unmasked(mo_channel_queues *l,
                                   const mo_pairing_heap *h, int *it);
void mo_channel_queues_set_held_unmasked(mo_channel_queues *l, int channel,
                                         bool hold);

/* Queues transfer `it` on the channel. */
static inline void mo_channel_queues_push(mo_channel_queues *l,
                                          const mo_pairing_heap *h, int channel,
                                          int it)
{
    if (!l->use_mask) {
        mo_channel_queues_push_unmasked(l, h, channel, it);
        return;
    }
    mo_pairing_heap_push(h, &l->queue[channel], it);
    l->waiting |= UINT64_C(1) << channel;
}

/* Marks the channel as busy. */
static inline void mo_channel_queues_acquire(mo_channel_queues *l, int channel)
{
    if (!l->use_mask) {
        mo_channel_queues_set_held_unmasked(l, channel, true);
        return;
    }
    l->active |= UINT64_C(1) << channel;
    l->blocked |= l->conflicts[channel];
}

/* Marks the channel as idle. */
static inline void mo_channel_queues_release(mo_channel_queues *l, int channel)
{
    if (!l->use_mask) {
        mo_channel_queues_set_held_unmasked(l, channel, false);
        return;
    }
    l->active &= ~(UINT64_C(1) << channel);
    l->blocked = 0;
    for (uint64_t rest = l->active; rest; rest &= rest - 1)
        l->blocked |= l->conflicts[__builtin_ctzll(rest)];
}

/* Removes the first of all transfers that could start now, sets *it, marks its
 * channel as busy and returns it; MO_CHANNEL_QUEUES_NONE: none could. */
static inline int mo_channel_queues_pop(mo_channel_queues *l,
                                        const mo_pairing_heap *h, int *it)
{
    uint64_t rest = l->waiting & ~l->blocked;
    int best;

    if (!l->use_mask)
        return mo_channel_queues_pop_unmasked(l, h, it);
    if (!rest)
        return MO_CHANNEL_QUEUES_NONE;
    best = __builtin_ctzll(rest);
    while (rest &= rest - 1) {
        int channel = __builtin_ctzll(rest);

        if (mo_pairing_heap_before(h, l->queue[channel], l->queue[best]))
            best = channel;
    }
    *it = mo_pairing_heap_pop(h, &l->queue[best]);
    if (l->queue[best] == MO_PAIRING_HEAP_EMPTY)
        l->waiting &= ~(UINT64_C(1) << best);
    mo_channel_queues_acquire(l, best);
    return best;
}

#endif
