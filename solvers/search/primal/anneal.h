/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anneal.h - simulated annealing of placement and order: local search with
 * moves on the critical path.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_H
#define MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_primal_anneal_options {
    uint64_t seed;
    int64_t moves;          /* limit */
    double hot, cold;       /* initial and final temperature, as parts of the
                               makespan; 0: default */
    int64_t enough_ns;      /* a lower bound to stop at, or 0 */
    const double *price_ns; /* by device: multiplier of its resident bytes,
                               added to the makespan; NULL: none */
    const double *unit_price_ns; /* of a unit (placement_units.h) on a device:
                                    [unit * K + device], added to the makespan,
                                    instead of price_ns; NULL: none */
    bool oscillate; /* strategic oscillation: schedules beyond memory
                       are passed through, at a price that rises while
                       there are any and falls while there are none */
    bool eject;     /* ejection chains: what moves to a full device
                       ejects others in the same move; else sets move
                       as far as there is room */
    const mo_stop *stop;

    /* Equal branches, for moves that copy one onto another: op j of branch r
     * is branch_ops[r * branch_n + j]. NULL: none. */
    const int *branch_ops;
    int n_branches, branch_n;
} mo_primal_anneal_options;

typedef struct mo_primal_anneal_result {
    mo_schedule *schedule; /* not longer than the start, priced bytes
                              included; the caller frees it */
    int64_t moves;         /* proposed */
} mo_primal_anneal_result;

/*
 * Anneals from a valid start, which stays the caller's, within memory, pins
 * and groups. Deterministic by input and seed unless stopped; then it returns
 * the best so far.
 */
mo_status mo_primal_anneal(const mo_instance *x, const mo_regime *regime,
                           const mo_schedule *start,
                           const mo_primal_anneal_options *options,
                           mo_primal_anneal_result *annealed, mo_error *err);

/* Returns about the work of a move, in units of mo_stop_spend(). */
int64_t mo_primal_anneal_move_work(int n_ops);

#endif
