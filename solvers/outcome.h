/*
 * run_answer.h - what a solver left behind: its files, its log, and how its
 * process ended, made into one outcome.
 */
#ifndef MO_SOLVERS_OUTCOME_H
#define MO_SOLVERS_OUTCOME_H

#include "solvers/run_solver.h"

/* What there was in the log. */
typedef struct mo_run_log {
    bool has_bound, has_claim;
    double bound;
    mo_claim claim;
    char complaint[200]; /* the last line that speaks of an error, or "" */
} mo_run_log;

void mo_run_log_step(mo_run_log *log, const mo_step *step);
void mo_run_log_complaint(mo_run_log *log, const char *line);

typedef struct mo_run_answer {
    const mo_solver *solver; /* NULL: some command */
    const mo_job *job;
    mo_way way;
    char *solution, *names; /* paths */
} mo_run_answer;

/* Fills in the paths and removes what is there from before. */
mo_status mo_run_answer_expect(mo_run_answer *answer,
                               const mo_answer_files *files, mo_error *err);

/* An answer that cannot be read is no error: it is no answer. */
mo_status mo_run_answer_read(const mo_run_answer *answer, const mo_run_log *log,
                             const mo_child_result *result, mo_outcome *outcome,
                             mo_error *err);
void mo_run_answer_clear(mo_run_answer *answer);

#endif
