/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_units.h - which rank has which device, and what it runs with there.
 */
#ifndef MO_DRIVER_EXEC_DEVICE_UNITS_H
#define MO_DRIVER_EXEC_DEVICE_UNITS_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/backend_choice.h"
#include "driver/log.h"
#include "cost/cluster.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"

typedef struct mo_exec_units {
    int n;
    int *rank_of; /* by device */
    mo_backend_unit_options *options;
    const mo_backend **backends;
    int *lanes;        /* for the plan: how many calls may run side by side */
    bool *keen, *nest; /* for the plan: as mo_plan_source has them */
    int *parts; /* SMs by device, where they are parts of one GPU, or NULL */
    mo_error no_gpu; /* why devices that are GPUs run on processors, or zeros */
} mo_exec_units;

/* Threads of a device are what is wanted, else what the cluster says, else an
 * equal share of the processors for each device of rank.  Begins as zeros, and
 * is the caller's to clear. */
mo_status mo_exec_units_make(const mo_cluster *cluster, int n_ranks, int rank,
                             const mo_exec_config *wants, mo_exec_units *units,
                             mo_error *err);
void mo_exec_units_clear(mo_exec_units *units);

/* What the plan of a device is like, by what it runs on. */
void mo_exec_units_set_plan_traits(mo_exec_units *units, int device,
                                   const mo_exec_config *wants);

/* Says what devices run on where that is not what they are, and which of rank
 * lack a processor that they should stay on. */
void mo_exec_units_log(const mo_exec_units *units, const mo_cluster *cluster,
                       int rank, const mo_driver_log *talk);

/* Has this machine the memory that the devices of rank need, of those that have
 * none of their own? */
mo_status mo_exec_units_check_memory(const mo_exec_units *units,
                                     const mo_exec_plan *plan, int rank,
                                     mo_error *err);

#endif
