/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_internal.h - state of a pipelined run, shared by its threads: one
 * for each slot of each device of this rank, one for each slot of those that
 * are driven together, at rank 0 one for each slot of the frontend, and one
 * that delivers outputs.
 */
#ifndef MO_EXEC_RUNTIME_PIPELINE_PIPELINE_INTERNAL_H
#define MO_EXEC_RUNTIME_PIPELINE_PIPELINE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "exec/runtime/device/device_run.h"
#include "exec/runtime/joint/slots.h"
#include "exec/runtime/pipeline/device_gate.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/runtime/pipeline/slot_plan.h"

/* A finished request that waits for delivery. */
typedef struct mo_pipeline_outcome {
    bool ready;
    bool lost;                /* it was taken, and is never delivered */
    mo_tensor_dense *outputs; /* by output of the plan; NULL: failed */
    mo_error failure;
} mo_pipeline_outcome;

/* Times of a request; end_ns 0: it has failed, or is not complete. */
typedef struct mo_pipeline_times {
    int64_t begin_ns, end_ns;
} mo_pipeline_times;

typedef struct mo_pipeline {
    const mo_exec_plan *plan;
    const mo_pipeline_options *options;
    mo_pipeline_slots slots;
    int rank;

    bool *chosen; /* by device: one of those that are driven together */
    int n_chosen;
    bool is_joint;          /* all devices of the plan are; the threads of the
                               frontend drive them */
    mo_joint_slots *joint;  /* opened by the thread of slot 0; NULL: not open */
    int n_joint_ended;      /* its threads that have ended; guarded by lock */
    mo_run_device *devices; /* d * n_slots + slot; of this rank's devices that
                               are not chosen */
    mo_pipeline_gate *gates; /* by device, of the same */

    /* Rank 0. The lock guards all that follows, but for n_completed and
     * n_failed, which belong to the thread that delivers. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_mutex_t intake;        /* held by the thread that reads a stream;
                                      locked before lock */
    int64_t next_in, next_out;     /* the next request to take, to deliver */
    int64_t n_requests;            /* lowered when the intake ends early */
    atomic_bool stopped;           /* no more is taken */
    int interrupt;                 /* by which requests were left out, or 0 */
    mo_pipeline_outcome *outcomes; /* request n at n % n_outcomes */
    int n_outcomes;
    mo_pipeline_times *times;  /* by request */
    int64_t n_times;           /* allocated */
    mo_pipeline_device *loads; /* by device; load_ns: sums */
    int64_t n_loads;           /* requests in these sums */
    int64_t n_completed, n_failed;
    mo_status sink_status;
    mo_error sink_error;
} mo_pipeline;

/* Roles of threads without a device. */
enum {
    MO_PIPELINE_NO_DEVICE = -1, /* of a rank without devices */
    MO_PIPELINE_FRONTEND = -2,
    MO_PIPELINE_JOINT = -3 /* of the devices that are driven together */
};

/* One thread of the run. */
typedef struct mo_pipeline_thread {
    mo_pipeline *pipeline;
    int device; /* or one of the roles above */
    int slot;
    pthread_t thread;

    /* Buffers of transfers, which may use them until all threads have ended. */
    mo_pipeline_start start;
    mo_pipeline_done done;
    struct mo_pipeline_frontend *frontend; /* or NULL */
} mo_pipeline_thread;

/* device_slot.c */

/* Runs the requests of a slot on a device; the thread of slot 0 opens the
 * device for all slots first. */
mo_status mo_pipeline_serve_device(mo_pipeline_thread *t, mo_error *err);

/* Posts a transfer of a slot and waits for it. */
mo_status mo_pipeline_receive(const mo_pipeline *p, int slot, int transfer,
                              void *data, mo_error *err);
mo_status mo_pipeline_send(const mo_pipeline *p, int slot, int transfer,
                           const void *data, mo_error *err);

/* device_group.c: devices that are driven together. */

/* Runs the requests of a slot; the thread of slot 0 opens the devices. */
mo_status mo_pipeline_serve_group(mo_pipeline_thread *t, mo_error *err);

/* Opens p->joint. Called by the thread of slot 0. */
mo_status mo_pipeline_open_joint(mo_pipeline *p, mo_error *err);
/* Called by each thread that may use p->joint, at its end: the last one frees
 * the programs, before the transport ends. */
void mo_pipeline_leave_joint(mo_pipeline *p);

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
