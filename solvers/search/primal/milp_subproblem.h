/* SPDX-License-Identifier: Apache-2.0 */
/*
 * milp_subproblem.h - matheuristic: a MILP solver (branch-and-bound) on a
 * sub-instance of some dozens of ops.
 *
 * The compact model is written to a temporary folder and each call has a
 * solver process of its own: several threads may call it at once. The schedule
 * is recomputed and validated; the bound is used after subtracting the
 * tolerance.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_MILP_SUBPROBLEM_H
#define MO_SOLVERS_SEARCH_PRIMAL_MILP_SUBPROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/plugins/solver.h"

typedef struct mo_primal_milp_options {
    const mo_solver *solver;
    const mo_solver_install *found; /* complete, by mo_solver_query_version() */
    const mo_schedule *start; /* MIP start, a schedule of the part, or NULL */
    double seconds;           /* limit for the solver */
    const mo_stop *stop;      /* limits the time, too */
} mo_primal_milp_options;

typedef struct mo_primal_milp_result {
    mo_schedule *schedule; /* left-shifted and valid, not longer than the start;
                              the caller frees it; NULL: none */
    int64_t lower_ns;      /* lower bound on the makespan; 0: none */
    bool proven; /* the solver claims optimality and the bound agrees */
} mo_primal_milp_result;

/* Relative tolerance of a bound claimed by a solver. */
#define MO_PRIMAL_MILP_TOLERANCE 1e-6

/* Solves the sub-instance. A solver that fails, finds nothing or claims the
 * impossible is not an error: *assisted is then empty. Under live memory the
 * model is a restriction: its bound is not used. The caller calls
 * mo_primal_milp_result_clear(). */
mo_status mo_primal_milp_solve(const mo_instance *part, const mo_regime *regime,
                               const mo_primal_milp_options *options,
                               mo_primal_milp_result *assisted, mo_error *err);
void mo_primal_milp_result_clear(mo_primal_milp_result *assisted);

/*
 * Returns the lower bound on the makespan of part that follows from a bound of
 * its model: less the tolerance and what rounding may have removed (times in
 * the model are multiples of step_ns), and, where the rest is well above a
 * multiple of the common divisor of all times, rounded up to the next
 * multiple: a makespan is a sum of times.
 */
int64_t mo_primal_milp_bound_ns(const mo_instance *part, double bound_ns,
                                int64_t step_ns);

#endif
