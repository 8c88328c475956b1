/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_internal.h - state of a pipelined run, shared by its threads: one
 * for each slot of each group of devices of this rank, at rank 0 one for each
 * slot of the frontend, and one that delivers outputs.
 */
#ifndef MO_EXEC_RUNTIME_PIPELINE_PIPELINE_INTERNAL_H
#define MO_EXEC_RUNTIME_PIPELINE_PIPELINE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/joint/slots.h"
#include "exec/runtime/pipeline/pipeline.h"

/*
 * slot_plan.c: the transfers of all slots as one plan, for the transport.
 *
 * A slot repeats the transfers of the plan and adds those between rank 0, the
 * frontend, and each device:
 *
 *     frontend -> device   start: the request and its phase, or the end
 *                          the inputs that the device reads
 *     device -> frontend   the network's outputs that the device has
 *                          done: time in calls, or the error of a kernel
 *
 * A slot of a copy of the network has the devices of the copy only. Each pair
 * of a slot and a device, or the frontend, is a device of its own here: one
 * thread drives it. A slot is started again when all its devices are
 * done: so no transfer is posted again before both ends have awaited it, which
 * transports require, and no barrier is needed.
 */
typedef struct mo_pipeline_start {
    int64_t request; /* -1: there are no more */
    int64_t phase;   /* of the plan */
} mo_pipeline_start;

typedef struct mo_pipeline_done {
    int64_t busy_ns; /* time in calls */
    int64_t slot_bytes, shared_bytes;
    int64_t status; /* MO_OK, or the text is an error of the request */
    char text[MO_ERROR_TEXT_SIZE];
} mo_pipeline_done;

typedef struct mo_pipeline_slots {
    mo_exec_plan plan;           /* transfers and devices, owned; values of the
                                    transfers among devices, borrowed */
    int *rank_of;                /* by device of plan */
    const mo_backend **backends; /* likewise */
    int n_slots, n_devices;      /* devices of one slot, without the frontend */
    int n_transfers;             /* of one slot; those of the plan come first */
    int first_start, first_done; /* of device d: + d */
    int first_output; /* from it on, transfers lead to the frontend; from
                         first_start up to it, they come from there */
    int *inputs;      /* by value: its transfer, or MO_PLAN_NONE */
    int *outputs;     /* by output, likewise */
} mo_pipeline_slots;

/* Borrows the plan's values and texts. slots begins as zeros; the caller clears
 * it, also after a failure. */
mo_status mo_pipeline_slots_make(const mo_exec_plan *plan, const int *rank_of,
                                 const mo_backend *const *backends, int n_slots,
                                 mo_pipeline_slots *slots, mo_error *err);
void mo_pipeline_slots_clear(mo_pipeline_slots *slots);

/* Returns the number of a transfer of one slot among those of all. */
static inline int mo_pipeline_transfer(const mo_pipeline_slots *slots, int slot,
                                       int transfer)
{
    return slot * slots->n_transfers + transfer;
}

/* Check messages of other ranks (transport/rendezvous/decode.h): fail with
 * MO_E_IO at numbers that cannot be; terminate the text. Sums of busy times do
 * not overflow. */
mo_status mo_pipeline_decode_start(const mo_pipeline_start *start,
                                   mo_error *err);
mo_status mo_pipeline_decode_done(mo_pipeline_done *done, mo_error *err);

/* A copy of the network, or the only one: its slots, and what is known of its
 * speed. */
typedef struct mo_pipeline_share {
    int first_slot, n_slots;
    int64_t latency_ns, period_ns; /* predicted, or 0 */
    int n_pending;                 /* requests assigned to it, not complete */
    int64_t n_done;
    int64_t busy_ns, since_ns; /* time with pending ones, until since_ns */
    int64_t n_loads;           /* requests in the sums of loads */
} mo_pipeline_share;

/* A request from its assignment to its delivery. */
typedef struct mo_pipeline_outcome {
    int share;               /* that runs it */
    bool waits;              /* for a slot of the share */
    mo_tensor_dense *inputs; /* of a stream, read for another share; or NULL */
    bool ready;
    bool lost;                /* it was taken, and is never delivered */
    mo_tensor_dense *outputs; /* by output of the plan; NULL: failed */
    mo_error failure;         /* perhaps already of its inputs */
} mo_pipeline_outcome;

/* Times of a request; end_ns 0: it has failed, or is not complete. */
typedef struct mo_pipeline_times {
    int64_t begin_ns, end_ns;
    int share;
} mo_pipeline_times;

/* Devices of this rank that one thread a slot drives: a CPU device, or those
 * with separate memory together. */
typedef struct mo_pipeline_group {
    bool *chosen;  /* by device of the plan */
    int share;     /* of all of them */
    bool is_empty; /* there are none with separate memory */
    bool separate_memory;
    mo_joint_slots *slots; /* opened by the thread of the first slot; NULL: not
                              open */
    int n_ended;           /* threads that have ended; guarded by lock */
} mo_pipeline_group;

typedef struct mo_pipeline {
    const mo_exec_plan *plan;
    const mo_pipeline_options *options;
    mo_pipeline_slots slots;
    int rank;
    mo_pipeline_share *shares; /* n_loads and what pends by the lock */
    int n_shares;
    int *share_of; /* by device; MO_PLAN_NONE: no copy uses it */

    mo_pipeline_group *groups;
    int n_groups;
    mo_pipeline_group *joint; /* the one of separate memory that has all devices
                                 of the plan: the threads of the frontend drive
                                 it; or NULL */

    /* Rank 0. The lock guards all that follows, but for n_completed and
     * n_failed, which belong to the thread that delivers. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool reading;              /* a thread reads the next request of a stream */
    int64_t next_in, next_out; /* the next request to take, to deliver */
    int64_t next;              /* of the result */
    int64_t n_requests;        /* lowered when the intake ends early */
    atomic_bool stopped;       /* no more is taken */
    int interrupt;             /* by which requests were left out, or 0 */
    mo_pipeline_outcome *outcomes; /* request n at n % n_outcomes */
    int n_outcomes;
    mo_pipeline_times *times;  /* by request */
    int64_t n_times;           /* allocated */
    mo_pipeline_device *loads; /* by device; load_ns: sums */
    int64_t n_completed, n_failed;
    mo_status sink_status;
    mo_error sink_error;
} mo_pipeline;

/* One thread of the run. */
typedef struct mo_pipeline_thread {
    mo_pipeline *pipeline;
    mo_pipeline_group *group; /* NULL: of the frontend, or of a rank without
                                 devices */
    bool is_frontend;
    int slot;
    pthread_t thread;

    /* Buffers of transfers, which may use them until all threads have ended. */
    mo_pipeline_start start;
    mo_pipeline_done done;
    struct mo_pipeline_frontend *frontend; /* or NULL */
} mo_pipeline_thread;

/* shares.c: what the copies of a network have. */

/* Lists the shares and which one each device is of. Fails with MO_E_INPUT where
 * copies have a device in common. */
mo_status mo_pipeline_list_shares(mo_pipeline *p, mo_error *err);

/* Returns the share of a slot. */
int mo_pipeline_share_of(const mo_pipeline *p, int slot);

/* Returns the share that will finish one more request first, by its period and
 * what is pending there; guarded by lock. */
int mo_pipeline_choose_share(const mo_pipeline *p, int64_t now_ns);

/* Count a request as assigned to a share, and as complete; guarded by lock. */
void mo_pipeline_share_assign(mo_pipeline_share *share, int64_t now_ns);
void mo_pipeline_share_complete(mo_pipeline_share *share, int64_t now_ns);

/* The first inputs and outputs that source, next and sink have, among those of
 * the plan; and how many inputs these are. */
int mo_pipeline_first_input(const mo_pipeline *p, int share);
int mo_pipeline_first_output(const mo_pipeline *p, int share);
int mo_pipeline_n_inputs(const mo_pipeline *p);

/* intake.c: rank 0. */

/* Waits for a request of the share, and returns false when there are no more.
 * Of a stream inputs are set, which begin as zeros; why->status is that of
 * making them. */
bool mo_pipeline_take(mo_pipeline *p, int share, mo_tensor_dense *inputs,
                      int64_t *request, mo_error *why);

/* device_slot.c */

/* Runs the requests of a slot of a group; the thread of its first slot opens
 * the devices. */
mo_status mo_pipeline_serve_devices(mo_pipeline_thread *t, mo_error *err);

/* Opens the devices of a group. Called by the thread of its first slot. */
mo_status mo_pipeline_open_group(mo_pipeline *p, mo_pipeline_group *g,
                                 mo_error *err);
/* Writes the states of the group, if they are wanted, after its last request.
 */
mo_status mo_pipeline_save_group(const mo_pipeline *p,
                                 const mo_pipeline_group *g, mo_error *err);
/* Called by each thread that may use the group, at its end: the last one frees
 * the programs, before the transport ends. */
void mo_pipeline_leave_group(mo_pipeline *p, mo_pipeline_group *g);

/* The result of a request on a device of the group. */
void mo_pipeline_fill_done(const mo_pipeline_group *g, int device,
                           const mo_joint_slots_run_result *result,
                           mo_pipeline_done *done);

/* frontend.c: rank 0. */

/* Runs all requests of a slot. Allocates t->frontend; the caller frees it when
 * all threads have ended, also after a failure. */
mo_status mo_pipeline_serve_requests(mo_pipeline_thread *t, mo_error *err);
/* Accepts NULL. */
void mo_pipeline_frontend_free(struct mo_pipeline_frontend *frontend);

/* delivery.c: rank 0. */

/* Stores the outcome of a request for delivery; takes the outputs, by output of
 * the plan; NULL: the request has failed. */
void mo_pipeline_store_outcome(mo_pipeline *p, int64_t request,
                               mo_tensor_dense *outputs,
                               const mo_error *failure);
/* Delivers the outcome of the only request in flight now. */
mo_status mo_pipeline_deliver_direct(mo_pipeline *p, int64_t request,
                                     const mo_tensor_dense *outputs,
                                     const mo_error *failure, mo_error *err);

/* Frees outputs; NULL is allowed. */
void mo_pipeline_clear_outputs(const mo_exec_plan *plan,
                               mo_tensor_dense *outputs);

/* Delivers outcomes in order until all are, or the run has stopped. */
void mo_pipeline_deliver(mo_pipeline *p);

/* After all threads have ended: delivers what is complete. */
void mo_pipeline_deliver_rest(mo_pipeline *p);

/* Ends the intake and wakes all that wait for it; from any thread. */
void mo_pipeline_stop(mo_pipeline *p);

/* statistics.c */

/* Requests before this one fill the slots: their times do not count. */
int64_t mo_pipeline_first_steady(const mo_pipeline_options *options);

/* Fills the result, which begins as zeros, after all threads have ended. */
mo_status mo_pipeline_summarize(const mo_pipeline *p,
                                mo_pipeline_result *result, mo_error *err);

#endif
