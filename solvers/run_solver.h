/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_solver.h - runs a solver on a job; its claims are not trusted but
 * checked later (answer/evaluation.h).
 */
#ifndef MO_SOLVERS_RUN_SOLVER_H
#define MO_SOLVERS_RUN_SOLVER_H

#include "base/error.h"
#include "solvers/process/child.h"
#include "solvers/plugins/solver.h"

typedef struct mo_solver_outcome {
    mo_solution_status
        claim; /* MO_SOLUTION_STATUS_NO_SOLUTION when there is none */
    mo_solution *solution; /* or NULL; owned */
    bool has_bound;
    double bound; /* the best of log and file, in the model's unit */
    double seconds;
    mo_child_end end;
    char text[512]; /* one line of description, for users */
} mo_solver_outcome;

typedef struct mo_solver_run_options {
    mo_solver_via way;
    const char *command; /* MO_SOLVER_VIA_COMMAND: mo_command_template_expand */
    double grace_s;      /* from the time limit to SIGKILL; 0: 2 */
    const char
        *scratch; /* folder to remove if this process is killed; or NULL */
    void (*progress)(void *context, const mo_solver *solver,
                     const mo_solver_progress *step);
    void (*line)(void *context, const mo_solver *solver, const char *text);
    void *context; /* for both callbacks; each may be NULL */
} mo_solver_run_options;

/*
 * Runs the job in job->folder, which has to exist. A solver that crashes,
 * hangs, fills the disk, prints garbage or exits with nothing is an outcome;
 * old output files are deleted first. SIGINT and SIGTERM are passed on to the
 * solver, and its incumbent is the outcome. With MO_SOLVER_VIA_COMMAND solver
 * and found may be NULL.
 *
 * Returns an error when the run was not possible: no model, no such way, a
 * command without placeholders, no memory. The model has to be a minimisation.
 * The caller frees *outcome with mo_solver_outcome_clear().
 */
mo_status mo_solver_run(const mo_solver *solver, const mo_solver_install *found,
                        const mo_solver_job *job,
                        const mo_solver_run_options *options,
                        mo_solver_outcome *outcome, mo_error *err);
void mo_solver_outcome_clear(mo_solver_outcome *outcome);

/*
 * Expansion of a user's command with placeholders.
 *
 *     ssh solver.example scip-run {model} {solution}
 *
 * It is a line for sh, run in the current folder. {model} and {solution} are
 * paths and required; {start} is one, too ("" without a start), {time} is
 * seconds (1e20 without a limit), {gap} relative (1e-4 by default), {threads}
 * a number (0: the solver's default). Values are quoted, so a placeholder must
 * not stand within quotes. Other braces belong to the shell.
 *
 * Expands text into *line, which the caller frees. Returns MO_E_USAGE for a
 * placeholder within quotes, or a missing one.
 */
mo_status mo_command_template_expand(const char *text, const mo_solver_job *job,
                                     const char *solution, char **line,
                                     mo_error *err);

#endif
