/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_units.h - assignment of devices to ranks, backends, GPUs and threads.
 */
#ifndef MO_DRIVER_EXEC_DEVICE_UNITS_H
#define MO_DRIVER_EXEC_DEVICE_UNITS_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/backend_choice.h"
#include "driver/exec/pin_devices.h"
#include "driver/log.h"
#include "cost/cluster.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"

typedef struct mo_exec_units {
    int n;
    int *rank_of; /* by device */
    mo_backend_unit_options *options;
    const mo_backend **backends;
    int *streams;                   /* for the plan */
    bool *can_jit, *concat_inplace; /* for the plan: as in mo_plan_source */
    int *parts;      /* SMs by device for parts of one GPU, or NULL */
    mo_error no_gpu; /* why GPU devices run on processors, or zeros */
    mo_thread_reservation reserved; /* of pinned threads */
    mo_exec_fit *fits;              /* by rank, as far as known; else zeros */
    int n_ranks;
    bool *chosen; /* by device: its processors were chosen, not given */
    char (*cpus)[MO_EXEC_CPUS_SIZE]; /* by device: processors its threads are
                                        pinned to, or "" */
} mo_exec_units;

/* Threads of a device: the option's, else the cluster's, else an equal share
 * of the processors among the devices of the rank; pinned as in pin_devices.h.
 * *units begins as zeros; the caller clears it. */
mo_status mo_exec_units_make(const mo_cluster *cluster, int n_ranks, int rank,
                             const mo_exec_config *wants, mo_exec_units *units,
                             mo_error *err);
/* Makes a device one that needs no resources, because it has no ops. */
void mo_exec_units_disable(mo_exec_units *units, int device,
                           const mo_exec_config *wants);
void mo_exec_units_clear(mo_exec_units *units);

/* Logs the devices whose backend is not their own kind, those of rank without a
 * processor they are bound to, and ranks with more threads than processors. */
void mo_exec_units_log(const mo_exec_units *units, const mo_cluster *cluster,
                       int rank, const mo_driver_log *logger);

/* Fails if the devices of rank that have no memory of their own, the inputs,
 * and at rank 0 the outputs need more than limit bytes; 0: more than the
 * machine has available. */
mo_status mo_exec_units_check_memory(const mo_exec_units *units,
                                     const mo_exec_plan *plan, int rank,
                                     int64_t limit, mo_error *err);

#endif
