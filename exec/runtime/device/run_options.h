/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_options.h - the options of a run of a plan (exec/runtime/run.h).
 */
#ifndef MO_EXEC_RUNTIME_DEVICE_RUN_OPTIONS_H
#define MO_EXEC_RUNTIME_DEVICE_RUN_OPTIONS_H

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

#endif
