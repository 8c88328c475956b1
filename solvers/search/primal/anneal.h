/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anneal.h - a schedule made better by many small changes.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_H
#define MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_primal_anneal_options {
    uint64_t seed;
    int64_t moves;     /* the effort */
    double hot, cold;  /* temperature at the beginning and the end, as parts of
                          the makespan; 0: chosen by size */
    int64_t enough_ns; /* a makespan that cannot be beaten, or 0 */
    const mo_stop *stop;

    /* Branches that are alike, for moves that copy one onto another: op j of
     * branch r is branch_ops[r * branch_n + j].  NULL: none. */
    const int *branch_ops;
    int n_branches, branch_n;
} mo_primal_anneal_options;

typedef struct mo_primal_anneal_result {
    mo_schedule *schedule; /* never worse than the start */
    int64_t moves;         /* tried */
} mo_primal_anneal_result;

/*
 * From the start (which stays the caller's and must be valid), within memory,
 * pins and groups.  The same input and seed give the same answer unless it is
 * stopped; then the best so far.
 */
mo_status mo_primal_anneal(const mo_instance *x, const mo_regime *regime,
                           const mo_schedule *start,
                           const mo_primal_anneal_options *options,
                           mo_primal_anneal_result *annealed, mo_error *err);

#endif
