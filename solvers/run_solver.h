/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - a job given to a solver, and what came of it; nothing is believed.
 */
#ifndef MO_SOLVERS_RUN_SOLVER_H
#define MO_SOLVERS_RUN_SOLVER_H

#include "base/error.h"
#include "solvers/process/child.h"
#include "solvers/plugins/solver.h"

typedef struct mo_solver_outcome {
    mo_solution_status
        claim; /* MO_SOLUTION_STATUS_NO_SOLUTION when it left nothing */
    mo_solution *solution; /* or NULL */
    bool has_bound;
    double bound; /* the best the log or file tells, in the model's unit */
    double seconds;
    mo_child_end end;
    char text[512]; /* one line on what happened, for people */
} mo_solver_outcome;

typedef struct mo_solver_run_options {
    mo_solver_via way;
    const char *command; /* MO_SOLVER_VIA_COMMAND: see template.h */
    double grace_s;      /* beyond the time limit, before it is killed; 0: 2 */
    const char *scratch; /* removed should we be killed; or NULL */
    void (*progress)(void *context, const mo_solver *solver,
                     const mo_solver_progress *step);
    void (*line)(void *context, const mo_solver *solver, const char *text);
    void *context; /* for both; each may be NULL */
} mo_solver_run_options;

/*
 * job->folder must be there.  A solver that crashes, hangs, fills the disk,
 * prints garbage or exits with nothing is an outcome; stale files are deleted
 * first.  SIGINT and SIGTERM are passed on to the solver, and what it has by
 * then is the outcome.  With MO_SOLVER_VIA_COMMAND solver and found may be
 * NULL.
 *
 * An error is that it could not be tried: no model, no such way, a command with
 * nothing to fill in, no memory.  Answers must be read as a MILP's that is
 * minimised.
 */
mo_status mo_solver_run(const mo_solver *solver, const mo_solver_install *found,
                        const mo_solver_job *job,
                        const mo_solver_run_options *options,
                        mo_solver_outcome *outcome, mo_error *err);
void mo_solver_outcome_clear(mo_solver_outcome *outcome);

#endif
