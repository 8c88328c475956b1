/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - a plan, run and measured.
 */
#ifndef MO_EXEC_RUNTIME_RUN_H
#define MO_EXEC_RUNTIME_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "exec/backend/backend.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/plan/ir/plan.h"
#include "exec/transport/transport.h"

/* Hears how long a part of a device's start took; from the device's thread. */
typedef void mo_run_on_progress(const void *hearer, const char *device,
                                const char *what, double seconds);

typedef struct mo_run_plan_options {
    const mo_transport *transport;
    mo_transport_world *world;            /* open, of transport */
    const mo_backend *const *backends;    /* by device */
    const mo_backend_unit_options *units; /* by device */
    const int *rank_of;                   /* by device */
    const mo_tensor_dense *inputs; /* by input of the plan; those that this
                               rank does not read may be empty */
    int warm_ups, runs;            /* runs at least 1 */
    /* A digest of what else all ranks must have alike for the answer to be one;
     * 0: nobody knows. */
    uint64_t alike;
    bool trace; /* keep the times of every step of the median run */
    bool whole; /* how long all of it takes is enough: no call is timed by
                   itself, call_ns and busy_ns stay 0; not with trace */
    bool eager; /* where memory is apart: call by call, no programs */
    const int64_t *hold_ns;   /* by transfer: it takes at least so long where it
                                 goes between devices with memory apart of this
                                 process; NULL: as long as it takes */
    const mo_stop *stop;      /* or NULL: ends between runs */
    mo_run_on_progress *hear; /* or NULL: nobody wants to */
    const void *hearer;
} mo_run_plan_options;

enum { MO_RUN_REASON_SIZE = 256 };

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
