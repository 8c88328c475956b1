/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_internal.h - state of a pipelined run, shared by its threads: one
 * for each slot of each device of this rank, at rank 0 one for each slot of
 * the frontend, and one that delivers outputs.
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

/* Of a delivered request; ends 0: it has failed. */
typedef struct mo_pipeline_times {
    int64_t begin_ns, end_ns;
} mo_pipeline_times;

typedef struct mo_pipeline {
    const mo_exec_plan *plan;
    const mo_pipeline_options *options;
    mo_pipeline_slots slots;
    int rank;

    bool is_joint;           /* all devices are GPUs of this process: */
    mo_joint_slots *joint;   /* the frontend drives them; else NULL */
    mo_run_device *devices;  /* d * n_slots + slot; of this rank */
    mo_pipeline_gate *gates; /* by device of this rank */

    /* Rank 0. The lock is for all that follows. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t next_in, next_out;     /* the next request to take, to deliver */
    bool stopped;                  /* no more is taken */
    mo_pipeline_outcome *outcomes; /* request n at n % n_outcomes */
    int n_outcomes;
    mo_pipeline_times *times;  /* by request */
    mo_pipeline_device *loads; /* by device; load_ns: sums */
    int64_t n_loads;           /* requests in these sums */
    int64_t n_completed, n_failed;
    mo_status sink_status;
    mo_error sink_error;
} mo_pipeline;

/* One thread of the run. */
typedef struct mo_pipeline_thread {
    mo_pipeline *pipeline;
    int device; /* MO_PLAN_NONE: the frontend, or a rank without devices */
    int slot;
    pthread_t thread;

    /* Another thread may write or read them until all have ended. */
    mo_pipeline_start start;
    mo_pipeline_done done;
    struct mo_pipeline_frontend *frontend; /* or NULL */
} mo_pipeline_thread;

/* ---- device_slot.c */

/* Runs the requests of a slot on a device; the thread of slot 0 opens the
 * device for all slots first. */
mo_status mo_pipeline_serve_device(mo_pipeline_thread *t, mo_error *err);

/* ---- frontend.c: rank 0 */

/* Allocates t->frontend; the caller frees it when all threads have ended. */
mo_status mo_pipeline_serve_requests(mo_pipeline_thread *t, mo_error *err);
/* Accepts NULL. */
void mo_pipeline_frontend_free(struct mo_pipeline_frontend *frontend);

/* Delivers outcomes in order until all are, or the run has stopped. */
void mo_pipeline_deliver(mo_pipeline *p);

/* After all threads have ended: delivers what is complete. */
void mo_pipeline_deliver_rest(mo_pipeline *p);

/* Ends the intake and wakes all that wait for it; from any thread. */
void mo_pipeline_stop(mo_pipeline *p);

/* After all requests: measures the loads of joint devices. */
mo_status mo_pipeline_measure_joint(mo_pipeline *p, mo_error *err);

/* ---- statistics.c */

/* Requests before this one fill the slots: their times do not count. */
int64_t mo_pipeline_first_steady(const mo_pipeline_options *options);

mo_status mo_pipeline_summarize(const mo_pipeline *p,
                                mo_pipeline_result *result, mo_error *err);

#endif
