/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - a plan, run and measured.
 */
#ifndef MO_EXEC_RUNTIME_RUN_H
#define MO_EXEC_RUNTIME_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/device/run_options.h"
#include "exec/tensor/dense_tensor.h"

/* A step as it went, in nanoseconds since its run began. */
typedef struct mo_run_step {
    int64_t begin_ns, end_ns;
} mo_run_step;

typedef struct mo_run_result {
    int n_runs;
    int64_t *makespan_ns; /* of every timed run, in the order they were made */
    int64_t median_ns, spread_ns; /* spread: between the quartiles */
    /* By device of this rank (all of them, at rank 0, which collects them): the
     * steps' times in the median run; NULL for others' devices, and where no
     * trace was asked for. */
    mo_run_step **steps;
    int64_t *call_ns; /* by call: median of its duration, where memory is apart
                         with nothing beside it; 0 where unknown */
    int64_t *busy_ns; /* by device: sum of its calls in the median run */
    int64_t *workspace_bytes, *allocated_bytes; /* by device of this rank */
    mo_tensor_dense
        *outputs; /* at rank 0: by output of the plan, plain layout */
    int n_outputs, n_devices;
    int median_run; /* whose makespan is the median (the lower one of two) */
    /* The longest chain of calls and transfers, each as long as by itself,
     * where all devices of the plan were driven together and nothing went
     * through memory of the process; else 0. */
    int64_t chain_ns;
    /* Why there was no program though one was wanted; "": there was. */
    char eager_because[MO_RUN_REASON_SIZE];
    bool stopped; /* options.stop ended it; n_runs were made, maybe none */
} mo_run_result;

/*
 * Prepares all kernels of the devices of this rank, allocates exactly what the
 * plan says, runs.  All ranks call it, from the thread that opened the world,
 * which is begun here.  Whatever fails, here or elsewhere, is told to everybody
 * and returned: the caller prints it, closes the world and leaves.  result
 * begins as zeros and is the caller's to clear.
 */
mo_status mo_run_plan(const mo_exec_plan *plan,
                      const mo_run_plan_options *options, mo_run_result *result,
                      mo_error *err);
void mo_run_result_clear(mo_run_result *result);

#endif
