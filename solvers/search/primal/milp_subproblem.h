/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assist.h - a MILP solver asked about a part of some dozens of ops.
 *
 * The part's compact model is written to a folder of its own and the solver
 * runs as a process of its own, so that several threads may each have one.  Its
 * schedule is timed and judged anew; its bound is believed, less what solvers
 * tolerate.
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
    const mo_solver_install *found; /* asked before: mo_solver_query_version */
    const mo_schedule *start; /* a schedule of the part to improve, or NULL */
    double seconds;           /* for the solver */
    const mo_stop *stop;      /* it has no more time than is left until then */
} mo_primal_milp_options;

typedef struct mo_primal_milp_result {
    mo_schedule *schedule; /* left-shifted and valid, not longer than the start;
                              NULL: it found none */
    int64_t lower_ns;      /* no schedule of the part is shorter; 0: nothing is
                              known */
    bool proven;           /* the solver says that the schedule is optimal */
} mo_primal_milp_result;

/* How much of what a solver says it has proven may be tolerance, in parts. */
#define MO_PRIMAL_MILP_TOLERANCE 1e-6

/* That the solver fails, finds nothing, or says what cannot be, is no error.
 * With live memory the model is a stricter one: then only schedules come of
 * it, and what is proven otherwise. */
mo_status mo_primal_milp_solve(const mo_instance *part, const mo_regime *regime,
                               const mo_primal_milp_options *options,
                               mo_primal_milp_result *assisted, mo_error *err);
void mo_primal_milp_result_clear(mo_primal_milp_result *assisted);

/*
 * The least makespan that a schedule can have by a bound of a model of part:
 * less the tolerance and what rounding may have taken away (step_ns: the model
 * has multiples of it for times), and, where that is well beyond one multiple
 * of what divides all times of the part, up to the next: a makespan is a sum of
 * these.
 */
int64_t mo_primal_milp_bound_ns(const mo_instance *part, double bound_ns,
                                int64_t step_ns);

#endif
