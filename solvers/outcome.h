/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_answer.h - what a solver left behind: its files, its log, and how its
 * process ended, made into one outcome.
 */
#ifndef MO_SOLVERS_OUTCOME_H
#define MO_SOLVERS_OUTCOME_H

#include "solvers/run_solver.h"

/* What there was in the log. */
typedef struct mo_solver_log_summary {
    bool has_bound, has_claim;
    double bound;
    mo_solution_status claim;
    char complaint[200]; /* the last line that speaks of an error, or "" */
} mo_solver_log_summary;

void mo_solver_log_summary_update(mo_solver_log_summary *log,
                                  const mo_solver_progress *step);
void mo_solver_log_summary_error(mo_solver_log_summary *log, const char *line);

typedef struct mo_solver_output_reader {
    const mo_solver *solver; /* NULL: some command */
    const mo_solver_job *job;
    mo_solver_via way;
    char *solution, *names; /* paths */
} mo_solver_output_reader;

/* Fills in the paths and removes what is there from before. */
mo_status mo_solver_output_reader_init(mo_solver_output_reader *answer,
                                       const mo_solver_output_files *files,
                                       mo_error *err);

/* An answer that cannot be read is no error: it is no answer. */
mo_status mo_solver_output_reader_read(const mo_solver_output_reader *answer,
                                       const mo_solver_log_summary *log,
                                       const mo_child_result *result,
                                       mo_solver_outcome *outcome,
                                       mo_error *err);
void mo_solver_output_reader_clear(mo_solver_output_reader *answer);

#endif
