/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - pipelined execution of a plan: a stream of requests, several in
 * flight.
 *
 * There are K slots, each with the values of one request on every device;
 * weights and kernels are shared. A CPU device works on the oldest request that
 * is ready there, call by call, while others are transferred or are on other
 * devices. Every request has the outputs of a run of its own, bit by bit, and
 * they are delivered in the order of the requests.
 *
 *     slot 0   |-- A: 0 --|-- B: 0 --|-- A: 2 --|-- B: 2 --|
 *     slot 1              |-- A: 1 --|-- B: 1 --|-- A: 3 --|
 *
 * The GPUs of a rank are driven together (exec/runtime/joint/slots.h), and
 * their kernels of several requests run at the same time. Values between ranks,
 * and between CPUs and GPUs, go by the transport, or by its carrier.
 *
 * Rank 0 reads the inputs and delivers the outputs. A slot takes the next
 * request when all devices have finished the last one, and while fewer than 2 K
 * outputs wait for delivery: a slow receiver stops the intake, not the devices.
 */
#ifndef MO_EXEC_RUNTIME_PIPELINE_PIPELINE_H
#define MO_EXEC_RUNTIME_PIPELINE_PIPELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/device/run_options.h"
#include "exec/tensor/dense_tensor.h"

enum { MO_PIPELINE_MAX_SLOTS = 256 };

/* Makes the inputs of a request, by input of the plan; they begin as zeros and
 * are cleared by the caller. A failure is that of the request alone. Called at
 * rank 0, by several threads, of different requests, at the same time. */
typedef mo_status mo_pipeline_source(void *context, int64_t request,
                                     mo_tensor_dense *inputs, mo_error *err);

/* The same for a stream whose length is not known: called in the order of
 * requests, by one thread at a time. Sets *end where there is no such request,
 * and none after it; may do so, too, once *stopped is set: the run has ended.
 */
typedef mo_status mo_pipeline_next(void *context, int64_t request,
                                   const atomic_bool *stopped,
                                   mo_tensor_dense *inputs, bool *end,
                                   mo_error *err);

/* Receives the outputs of a request, by output of the plan in NCHW, or the
 * reason why it has none. The outputs stay the caller's. A failure ends the
 * run. Called at rank 0, in the order of requests, by one thread at a time. */
typedef mo_status mo_pipeline_sink(void *context, int64_t request,
                                   const mo_tensor_dense *outputs,
                                   const mo_error *failure, mo_error *err);

/* A sink for measurements: frees nothing, and fails with the failure of a
 * request. Its context may be NULL. */
mo_status mo_pipeline_discard_outputs(void *context, int64_t request,
                                      const mo_tensor_dense *outputs,
                                      const mo_error *failure, mo_error *err);

/* A copy of the network, a phase of the plan: on devices of its own, with slots
 * of its own. */
typedef struct mo_pipeline_copy {
    int n_slots;
    int64_t latency_ns, period_ns; /* predicted */
} mo_pipeline_copy;

typedef struct mo_pipeline_options {
    /* Transport, world, backends, units, rank_of, config_digest and progress;
     * all else is zero, and runs 1. */
    const mo_run_plan_options *run;
    int n_slots;        /* requests in flight, 1 to MO_PIPELINE_MAX_SLOTS */
    int64_t n_requests; /* at rank 0; with next at most so many */
    int64_t first;      /* requests before this one were delivered by a run that
                           has failed */
    bool resumes;       /* after a failure another run begins with the first
                           request that is not delivered: nothing behind it is
                           delivered */
    mo_pipeline_source *source;
    mo_pipeline_next *next; /* or NULL; then instead of source */
    mo_pipeline_sink *sink;
    void *context; /* passed to source, next, sink and phase */
    /* By phase of the plan, of which no two have a device in common, n_slots in
     * sum: a request goes to the copy that will finish it first, and source,
     * next and sink have the inputs and outputs of one copy. NULL: the phases
     * are no copies. */
    const mo_pipeline_copy *copies;
    /* Returns the phase of the plan that a request runs; NULL: 0. Called after
     * its inputs were made, which are those of the phase, without states. */
    int (*phase)(void *context, int64_t request);
    /* For one slot: sink is called by the thread that has run the request,
     * before the next one is taken, with outputs that it borrows: those of the
     * phase, without states. Nothing is allocated for a request. */
    bool direct;
    bool time_calls; /* measure the load of each call before the first request;
                        for plans of one device, with separate memory */
    /* At rank 0, or NULL: once it is not 0 nothing more is taken, and what was
     * taken is completed. A call of next returns soon then, with *end. */
    const atomic_int *interrupt;
    /* For one slot: folders of the states before the first request, and after
     * the last; or NULL: zeros, not kept. At each rank those of its devices. */
    const char *load_states, *save_states;
    bool untimed; /* keep no times of requests, of which there is no end; the
                     result has none */
} mo_pipeline_options;

typedef struct mo_pipeline_device {
    int64_t load_ns; /* time in calls per request, mean of the steady state */
    int64_t slot_bytes;   /* allocated for the values of one slot */
    int64_t shared_bytes; /* allocated once: workspaces, copies of weights */
} mo_pipeline_device;

typedef struct mo_pipeline_copy_result {
    int64_t n_completed, period_ns; /* as those of all */
} mo_pipeline_copy_result;

typedef struct mo_pipeline_result {
    int64_t n_accepted; /* requests that were taken */
    int64_t next;       /* with resumes: the first that was not delivered */
    int64_t n_requests; /* as in the options; less where the intake has ended */
    bool is_sunk;       /* the sink has failed */
    int64_t n_completed, n_failed; /* delivered with outputs, without */
    /* Accepted requests that were not delivered, when the run has failed;
     * owned. */
    int64_t *lost;
    int n_lost;
    int interrupt; /* value of *interrupt that ended the intake, or 0 */
    /* The intake of the first request, the time from it to the end of the last;
     * and the
     * mean time between the ends of two requests once the slots are full. */
    int64_t begin_ns, wall_ns, period_ns;
    int n_steady; /* number of such times; 0: a single request */
    int64_t min_ns, p50_ns, p95_ns, p99_ns; /* latency of a request */
    mo_pipeline_device *devices;            /* by device of the plan; owned */
    mo_pipeline_copy_result *copies;        /* owned, or NULL: no copies */
    int64_t *call_loads; /* by call, with time_calls: the time that it takes of
                            the device with all slots in flight; owned, or
                            NULL */
    int n_devices;
} mo_pipeline_result;

/*
 * Runs all requests. Collective, as mo_run_plan(): all ranks call it with the
 * same plan and number of slots, from the thread that opened the world; only
 * rank 0 needs source, sink and n_requests, and gets a result. A request whose
 * inputs cannot be made or whose kernels fail is delivered as failed, and the
 * others go on. A failed rank ends the run: complete outputs are delivered
 * before this function returns the error, and the rest is in lost.
 * The caller zeroes result and frees it with mo_pipeline_result_clear(), also
 * after a failure.
 */
mo_status mo_pipeline_run(const mo_exec_plan *plan,
                          const mo_pipeline_options *options,
                          mo_pipeline_result *result, mo_error *err);
void mo_pipeline_result_clear(mo_pipeline_result *result);

#endif
