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

/* Called with the duration of each phase of a device's start; from the
 * device's thread. */
typedef void mo_run_on_progress(const void *progress_context,
                                const char *device, const char *what,
                                double seconds);

typedef struct mo_run_plan_options {
    const mo_transport *transport;
    mo_transport_world *world;            /* open, of transport */
    const mo_backend *const *backends;    /* by device */
    const mo_backend_unit_options *units; /* by device */
    const int *rank_of;                   /* by device */
    const mo_tensor_dense *inputs; /* by input of the plan; those that this rank
                                      does not read may be empty; NULL in a
                                      pipeline, whose requests have their own */
    int warm_ups, runs;            /* runs at least 1 */
    int64_t warm_up_ns; /* warm-ups go on until they have taken so long; 0: as
                           many as warm_ups */
    /* A digest of everything else that must be the same on all ranks; 0:
     * unknown. */
    uint64_t config_digest;
    bool trace; /* keep the times of every step of the median run */
    bool whole; /* only makespans are wanted: no call is timed in isolation,
                   call_ns and busy_ns stay 0; not with trace */
    bool eager; /* separate memory: call by call, no programs */
    const int64_t *min_transfer_ns; /* link emulation, by transfer: its minimum
                                       duration between devices with separate
                                       memory of this process; NULL: none */
    int n_slots; /* copies of the values that memory must suffice for; 0: one */
    bool within_capacity; /* a device of host memory that would allocate more
                             than the capacity in the plan is an error */
    const mo_stop *stop;  /* or NULL: checked between runs */
    mo_run_on_progress *on_progress; /* or NULL */
    const void *progress_context;
} mo_run_plan_options;

enum { MO_RUN_REASON_SIZE = 256 };

#endif
