/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - runs a plan on the devices of all ranks and measures it.
 */
#ifndef MO_EXEC_RUNTIME_RUN_H
#define MO_EXEC_RUNTIME_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/device/run_options.h"
#include "exec/tensor/dense_tensor.h"

/* Begin and end of a step, in nanoseconds since its run began. */
typedef struct mo_run_step {
    int64_t begin_ns, end_ns;
} mo_run_step;

typedef struct mo_run_result {
    int n_runs, n_warm_ups;
    int64_t *makespan_ns;         /* of every timed run, in order */
    int64_t median_ns, spread_ns; /* spread: interquartile range */
    int64_t min_ns, p95_ns, p99_ns;
    /* By device, the median over the runs: run delay of its threads, the time
     * for which they could run and had no processor. */
    int64_t *wait_ns;
    int n_disturbed; /* runs in which this was a sizeable part for a device */
    /* By device of this rank (at rank 0: of all ranks): times of the steps in
     * the median run; NULL for devices of other ranks, and without trace. */
    mo_run_step **steps;
    int64_t *call_ns; /* by call: median duration, with separate memory measured
                         in isolation; 0 where unknown */
    int64_t *busy_ns; /* by device: sum of its calls in the median run */
    int64_t *workspace_bytes, *allocated_bytes; /* by device of this rank */
    mo_tensor_dense *outputs; /* at rank 0: by output of the plan, NCHW */
    int n_outputs, n_devices;
    int median_run; /* index of the run with the median makespan (the lower one
                       of two) */
    /* Critical path: the longest chain of calls and transfers with their
     * isolated times, where all devices of the plan were driven together
     * without staging; else 0. */
    int64_t chain_ns;
    /* The reason why no program was recorded; "": one was. */
    char eager_reason[MO_RUN_REASON_SIZE];
    bool stopped; /* options.stop ended the run; n_runs are complete, maybe none
                   */
} mo_run_result;

/*
 * Prepares the kernels of this rank's devices, allocates exactly what the plan
 * requires, and runs. Collective: all ranks call it, from the thread that
 * opened the world, which begins here. A failure on any rank is propagated to
 * all ranks and returned: the caller prints it, closes the world and exits.
 * The caller zeroes result and frees it with mo_run_result_clear(), also on
 * failure.
 */
mo_status mo_run_plan(const mo_exec_plan *plan,
                      const mo_run_plan_options *options, mo_run_result *result,
                      mo_error *err);
void mo_run_result_clear(mo_run_result *result);

/* Called once, from the thread that runs the load, when it has started. */
typedef void mo_run_background_started(void *context);

/*
 * Background load: keeps a device busy while others are measured. Runs a plan
 * of one device with separate memory again and again, as one program, until
 * `enough` stops it. Of options only the first backend and unit and the inputs
 * are used. Blocks the calling thread.
 */
mo_status mo_run_background_load(const mo_exec_plan *plan,
                                 const mo_run_plan_options *options,
                                 const mo_stop *enough,
                                 mo_run_background_started *begun,
                                 void *context, mo_error *err);

#endif
