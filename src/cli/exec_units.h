/*
 * exec_units.h - which rank has which device, and what it runs with there.
 */
#ifndef MO_CLI_EXEC_UNITS_H
#define MO_CLI_EXEC_UNITS_H

#include "base/error.h"
#include "cli/talk.h"
#include "cost/cluster.h"
#include "exec/backend/backend.h"
#include "exec/plan/plan.h"

typedef struct mo_exec_units {
    int n;
    int *rank_of; /* by device */
    mo_unit_options *options;
    const mo_backend **backends;
} mo_exec_units;

/* threads: of each device, or 0 for what the cluster says, else an equal share
 * of the processors for each device of rank.  Begins as zeros, and is the
 * caller's to clear. */
mo_status mo_exec_units_make(const mo_cluster *cluster, int n_ranks, int rank,
                             int threads, mo_exec_units *units, mo_error *err);
void mo_exec_units_clear(mo_exec_units *units);

/* Says which devices are none of the processors they run on, and which of rank
 * lack a processor that they should stay on. */
void mo_exec_units_tell(const mo_exec_units *units, const mo_cluster *cluster,
                        int rank, const mo_talk *talk);

/* Has this machine the memory that the devices of rank need? */
mo_status mo_exec_units_fit(const mo_exec_units *units, const mo_plan *plan,
                            int rank, mo_error *err);

#endif
