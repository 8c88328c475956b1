/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_internal.h - state of the simulator, shared by its files.
 */
#ifndef MO_SCHEDULE_SIM_SIM_INTERNAL_H
#define MO_SCHEDULE_SIM_SIM_INTERNAL_H

#include "schedule/sim/sim.h"
#include "schedule/sim/pairing_heap.h"
#include "schedule/sim/channel_queues.h"

/* Up to this many slots are the bits of a word, and the busy ones are scanned
 * for the next to end; above, they are in a heap. */
enum { MO_SIM_FEW_SLOTS = 64 };

enum { MO_SIM_IDLE = -1 };

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
    const mo_sim_time_lag *lags;
    int n_lags;
    int64_t *send_key;     /* by flow; of several the smallest counts */
    mo_pairing_heap queue; /* by node; keys of ops are the plan's */

    /* Lower bounds: by op, from its start to the end of the schedule; by
     * device, the least tail of its ops, or less. */
    int64_t *remaining_ns, *min_tail_ns;

    /* State at the current time. */
    int64_t now_ns;
    int64_t end_ns; /* of all that has started */
    int64_t cutoff_ns;
    bool is_pruned; /* the makespan cannot be below the cutoff */
    int *missing;   /* by op: inputs that have not arrived; backward, by node:
                       successors that have not ended */
    int64_t *arrival_ns;   /* by op: of inputs that wait for no resource */
    int *ready;            /* by device: heap of ready ops */
    uint64_t *wakeup_mask; /* bit by device: may be able to start an op */
    int64_t *unstarted_ns; /* by device: processing time not started yet */
    int sleeping;          /* heap of nodes that wait for a release time only */
    mo_pairing_heap wake;  /* keys of those */
    mo_channel_queues channels;

    /* In progress: an op for each device, and behind them a transfer for each
     * output port or else for each channel. */
    int n_slots;
    int *slot_node;        /* or MO_SIM_IDLE */
    mo_pairing_heap slots; /* keys: the end, if the slot is not idle */
    uint64_t busy, due;    /* few: slots not idle, slots that end next */
    int next_slot;         /* many: heap */

    /* Log: nodes by start. */
    int n_log;
    int *log;
    int64_t *ready_ns, *start_ns; /* by node */

    bool backward;
    int *carrier; /* backward, by flow: the node that carries it */

    /* Bundling of the flows of a tensor by target device. */
    int64_t stamp, *device_stamp; /* by device: stamp of the tensor last seen */
    int *bundle_node;             /* by device: the node */

    /* Callback once this many nodes have started. */
    int checkpoint_at;
    void (*on_checkpoint)(void *context);
    void *context;
};

/* Copies the plan; the time lags are borrowed. */
void mo_sim_load_plan(mo_sim *s, const mo_sim_plan *plan);

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

    return x->comm_ns[(int64_t) s->row[node - s->n] * x->n_kinds +
                      x->pair_kind[channel]];
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
