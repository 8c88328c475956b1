/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_internal.h - state of the simulator, shared by its files, and its queues
 * of transfers.
 */
#ifndef MO_SCHEDULE_SIM_SIM_INTERNAL_H
#define MO_SCHEDULE_SIM_SIM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/sim/pairing_heap.h"
#include "schedule/sim/sim.h"

/*
 * Queues of waiting transfers by channel, and conflicts
 * among channels.
 *
 * A channel is an ordered pair of devices; all its transfers hold the same
 * resources.  Up to MO_CHANNEL_QUEUES_MASK_BITS channels are the bits of a
 * word, and those that share a resource with a busy one are masked out; with
 * more channels, but no more ports than that, the receivers of each sender are;
 * else resources are looked up.
 */

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

/* Up to this many slots are the bits of a word, and the busy ones are scanned
 * for the next to end; above, they are in a heap. */
enum { MO_SIM_FEW_SLOTS = 64 };

enum { MO_SIM_IDLE = -1 };

/* Time lags of the plan, borrowed. */
typedef struct mo_sim_lags {
    const mo_sim_time_lag *list;
    int n;
} mo_sim_lags;

/* Ends a run early: once the makespan cannot be below the cutoff. */
typedef struct mo_sim_prune {
    int64_t cutoff_ns;
    bool is_reached;
    int64_t *remaining_ns; /* lower bound by op, from its start to the end of
                              the schedule */
    int64_t *min_tail_ns;  /* by device, the least tail of its ops, or less */
} mo_sim_prune;

/* By device. */
typedef struct mo_sim_devices {
    int *ready;            /* heap of ready ops */
    uint64_t *wakeup_mask; /* bit: may be able to start an op */
    int64_t *unstarted_ns; /* processing time not started yet */
} mo_sim_devices;

/* Nodes that wait for a release time only. */
typedef struct mo_sim_asleep {
    int first;            /* heap */
    mo_pairing_heap heap; /* keys: that time */
} mo_sim_asleep;

/* In progress: an op for each device, and behind them a transfer for each
 * output port or else for each channel. */
typedef struct mo_sim_slots {
    int n;
    int *node;            /* or MO_SIM_IDLE */
    mo_pairing_heap heap; /* keys: the end, if the slot is not idle */
    uint64_t busy, due;   /* few: slots not idle, slots that end next */
    int next;             /* many: heap */
} mo_sim_slots;

/* Nodes by start. */
typedef struct mo_sim_log {
    int n;
    int *nodes;
} mo_sim_log;

/* Bundling of the flows of a tensor by target device. */
typedef struct mo_sim_bundle {
    int64_t stamp, *device_stamp; /* by device: stamp of the tensor last seen */
    int *node;                    /* by device: the node */
} mo_sim_bundle;

/* Callback once `at` nodes have started. */
typedef struct mo_sim_checkpoint {
    int at;
    void (*take)(void *context);
    void *context;
} mo_sim_checkpoint;

/*
 * Nodes can wait, run and be logged: first the ops, then the flows.  A
 * transfer is the node of its flow, or, with several readers, of the first of
 * their flows.
 */
struct mo_sim {
    const mo_instance *x;
    mo_regime regime;
    bool once;
    int n, n_devices, n_nodes;
    int *row; /* by flow: its row of transfer times in this regime */

    /* The plan.  Keys of transfers are set when they begin to wait. */
    int *device;              /* by op */
    int64_t *release_ns;      /* by op */
    int64_t *send_release_ns; /* by flow; of several that of the first counts */
    mo_sim_lags lags;
    int64_t *send_key;     /* by flow; of several the smallest counts */
    mo_pairing_heap queue; /* by node; keys of ops are the plan's */

    /* State at the current time. */
    int64_t now_ns;
    int64_t end_ns;      /* of all that has started */
    int *missing;        /* by op: inputs that have not arrived; backward, by
                            node: successors that have not ended */
    int64_t *arrival_ns; /* by op: of inputs that wait for no resource */
    mo_sim_devices devices;
    mo_sim_asleep asleep;
    mo_channel_queues channels;
    mo_sim_slots slots;
    mo_sim_log log;
    int64_t *ready_ns, *start_ns; /* by node */

    bool backward;
    int *carrier; /* backward, by flow: the node that carries it */

    mo_sim_prune prune;
    mo_sim_bundle bundle;
    mo_sim_checkpoint checkpoint;
};

/* Resets the clock, the log and all queues. */
void mo_sim_clear(mo_sim *s);

/* Makes ops without inputs ready and sets the load of the devices. */
void mo_sim_begin(mo_sim *s);

/* Runs to the end; returns the makespan, or INT64_MAX as soon as it cannot be
 * less than cutoff_ns. */
int64_t mo_sim_run_events(mo_sim *s, int64_t cutoff_ns);

/* Queues an op whose inputs are complete, or lets it sleep until its release
 * time. */
void mo_sim_op_ready(mo_sim *s, int op);

/* Queues a transfer with its key, or lets it sleep; the second also records
 * the current time as ready. */
void mo_sim_queue_transfer(mo_sim *s, int node);
void mo_sim_start_transfer(mo_sim *s, int node);

/* Counts an input of op as arrived; or as arriving with flow q over a channel
 * that holds no resource. */
void mo_sim_deliver_input(mo_sim *s, int op);
void mo_sim_deliver_uncongested(mo_sim *s, int q, int channel, int op);

/* Marks the device: it may be able to start an op. */
void mo_sim_wake_device(mo_sim *s, int device);

/* Ends a node in a backward run. */
void mo_sim_end_backward(mo_sim *s, int node);

/* Returns the smallest key of the flows of a transfer. */
int64_t mo_sim_send_key(const mo_sim *s, int node);

/* Occupies the slot with the node until end_ns. */
void mo_sim_occupy(mo_sim *s, int slot, int node, int64_t end_ns);

/* Makes the schedule of a completed run, from its devices and starts (by
 * node), left-shifted.  The caller frees *schedule. */
mo_status mo_sim_extract_schedule(const mo_sim *s, const int *device,
                                  const int64_t *start_ns,
                                  mo_schedule **schedule, mo_error *err);

static inline int64_t mo_sim_p_ns(const mo_sim *s, int op)
{
    return s->x->p_ns[(int64_t) op * s->n_devices + s->device[op]];
}

static inline bool mo_sim_is_op(const mo_sim *s, int node)
{
    return node < s->n;
}

static inline const mo_flow *mo_sim_flow(const mo_sim *s, int node)
{
    return &s->x->flows[node - s->n];
}

/* Of the flow of a node. */
static inline int mo_sim_channel(const mo_sim *s, int node)
{
    const mo_flow *flow = mo_sim_flow(s, node);

    return s->device[flow->from] * s->n_devices + s->device[flow->to];
}

static inline int64_t mo_sim_channel_ns(const mo_sim *s, int node, int channel)
{
    const mo_instance *x = s->x;

    return x->comm.ns[(int64_t) s->row[node - s->n] * x->comm.n_kinds +
                      x->comm.pair_kind[channel]];
}

static inline int64_t mo_sim_duration_ns(const mo_sim *s, int node)
{
    return mo_sim_is_op(s, node)
               ? mo_sim_p_ns(s, node)
               : mo_sim_channel_ns(s, node, mo_sim_channel(s, node));
}

static inline int mo_sim_slot(const mo_sim *s, int channel)
{
    return s->n_devices + (s->regime.congestion == MO_CONGESTION_PORT
                               ? channel / s->n_devices
                               : channel);
}

#endif
