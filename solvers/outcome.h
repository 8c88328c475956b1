/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - the outcome of a solver run, from its output files, its log and
 * the end of its process.
 */
#ifndef MO_SOLVERS_OUTCOME_H
#define MO_SOLVERS_OUTCOME_H

#include "solvers/run_solver.h"

/* Values found in the log. */
typedef struct mo_solver_log_summary {
    bool has_bound, has_claim;
    double bound;
    mo_solution_status claim;
    char error_line[200]; /* the last line with an error message, or "" */
} mo_solver_log_summary;

void mo_solver_log_summary_update(mo_solver_log_summary *log,
                                  const mo_solver_progress *step);
void mo_solver_log_summary_error(mo_solver_log_summary *log, const char *line);

typedef struct mo_solver_output_reader {
    const mo_solver *solver; /* NULL: a user's command */
    const mo_solver_job *job;
    mo_solver_via way;
    char *solution, *names; /* paths, owned */
} mo_solver_output_reader;

/* Sets the paths and removes old files there. The caller frees them with
 * mo_solver_output_reader_clear(), also on failure. */
mo_status mo_solver_output_reader_init(mo_solver_output_reader *answer,
                                       const mo_solver_output_files *files,
                                       mo_error *err);

/* Fills *outcome; outcome->solution is the caller's to free. A solution file
 * that cannot be read is no error but the outcome "no solution"; MO_E_MEMORY
 * is one. */
mo_status mo_solver_output_reader_read(const mo_solver_output_reader *answer,
                                       const mo_solver_log_summary *log,
                                       const mo_child_result *result,
                                       mo_solver_outcome *outcome,
                                       mo_error *err);
void mo_solver_output_reader_clear(mo_solver_output_reader *answer);

#endif
