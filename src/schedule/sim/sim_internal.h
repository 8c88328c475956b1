/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_parts.h - the inside of the simulator, for those who work on it.
 */
#ifndef MO_SCHEDULE_SIM_SIM_INTERNAL_H
#define MO_SCHEDULE_SIM_SIM_INTERNAL_H

#include "schedule/sim/sim.h"
#include "schedule/sim/pairing_heap.h"
#include "schedule/sim/channel_queues.h"

/* So many slots are the bits of a word, and the busy ones are looked through
 * for the next to end; above, they stand in a queue. */
enum { MO_SIM_FEW_SLOTS = 64 };

enum { MO_SIM_IDLE = -1 };

/*
 * Nodes are what can wait, run and be logged: first the ops, then the flows.  A
 * transfer is the node of its flow, or, sent for several readers, of the first
 * of their flows.
 */
struct mo_sim {
    const mo_instance *x;
    mo_regime regime;
    bool once;
    int n, n_devices, n_nodes;
    int *row; /* by flow: its row of transfer times in this regime */

    /* The plan.  Keys of transfers are set when they begin to wait. */
    int *device;         /* by op */
    int64_t *release_ns; /* by op */
    int64_t *hold_ns;    /* by flow; of several that of the first counts */
    const mo_sim_time_lag *after;
    int n_after;
    int64_t *send_key;     /* by flow; of several the smallest counts */
    mo_pairing_heap queue; /* by node; keys of ops are the plan's */

    /* By op, from its start to the end of all at least; by device, what comes
     * at least behind the last op there, or less. */
    int64_t *rest_ns, *least_tail_ns;

    /* The moment. */
    int64_t now_ns;
    int64_t end_ns; /* of all that has started */
    int64_t give_up_ns;
    bool is_hopeless;    /* it cannot end before that */
    int *missing;        /* by op: inputs that are not there; backward, by node:
                            what has not ended of all that follows */
    int64_t *arrival_ns; /* by op: of inputs that wait for no resource */
    int *ready;          /* by device: a queue of ops */
    uint64_t *called;    /* by device, a bit: look whether it can start one */
    int64_t *left_ns;    /* by device: all that has not started */
    int asleep;          /* a queue of nodes that lack nothing but time */
    mo_pairing_heap wake; /* of those */
    mo_channel_queues lanes;

    /* What is under way: an op for each device, and behind them a transfer for
     * each port out or else for each lane. */
    int n_slots;
    int *slot_node;        /* or MO_SIM_IDLE */
    mo_pairing_heap slots; /* keys: when it ends, if it is not idle */
    uint64_t busy, due;    /* few: which are not idle, and which end next */
    int next_slot;         /* many: a queue */

    /* What has happened: nodes by when they started. */
    int n_log;
    int *log;
    int64_t *ready_ns, *start_ns; /* by node */

    bool backward;
    int *carrier; /* backward, by flow: the node that brings it */

    /* Where an op's tensor goes to, while its readers are looked through. */
    int64_t looks, *seen; /* by device */
    int *bundle;          /* by device: the node */

    /* Called when so many have started. */
    int mark_at;
    void (*mark)(void *context);
    void *context;
};

/* Takes over what the plan says. */
void mo_sim_load_plan(mo_sim *s, const mo_sim_plan *plan);

/* Nothing has happened yet, and no queue holds anything. */
void mo_sim_clear(mo_sim *s);

/* Ops that read nothing are ready, and the devices have all before them. */
void mo_sim_begin(mo_sim *s);

/* Goes on to the end; the makespan, or INT64_MAX as soon as it cannot be less
 * than give_up_ns. */
int64_t mo_sim_run_events(mo_sim *s, int64_t give_up_ns);

/* An op that has all it reads; it may have to sleep. */
void mo_sim_op_ready(mo_sim *s, int op);

/* A transfer, with its key, begins to wait, asleep or not; or it does so just
 * now for the first time. */
void mo_sim_queue_transfer(mo_sim *s, int node);
void mo_sim_start_transfer(mo_sim *s, int node);

/* The op lacks one thing less; or will when flow q has gone its lane, which
 * holds nothing. */
void mo_sim_deliver_input(mo_sim *s, int op);
void mo_sim_deliver_uncongested(mo_sim *s, int q, int lane, int op);

/* The device may be able to start something. */
void mo_sim_wake_device(mo_sim *s, int device);

/* A node has ended, in a run from the end to the beginning. */
void mo_sim_end_backward(mo_sim *s, int node);

/* The smallest key of the flows that go with a transfer. */
int64_t mo_sim_send_key(const mo_sim *s, int node);

/* Something is under way until that time. */
void mo_sim_occupy(mo_sim *s, int slot, int node, int64_t end_ns);

/* The schedule of a run that came to its end, by its devices and starts (by
 * node), left-shifted. */
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

static inline int64_t mo_sim_channel_ns(const mo_sim *s, int node, int lane)
{
    const mo_instance *x = s->x;

    return x->comm_ns[(int64_t) s->row[node - s->n] * x->n_kinds +
                      x->pair_kind[lane]];
}

static inline int64_t mo_sim_duration_ns(const mo_sim *s, int node)
{
    return mo_sim_is_op(s, node)
               ? mo_sim_p_ns(s, node)
               : mo_sim_channel_ns(s, node, mo_sim_channel(s, node));
}

static inline int mo_sim_slot(const mo_sim *s, int lane)
{
    return s->n_devices + (s->regime.congestion == MO_CONGESTION_PORT
                               ? lane / s->n_devices
                               : lane);
}

#endif
