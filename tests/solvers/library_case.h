/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_case.h - solvers as libraries, run as moirai-solve runs them: in a
 * child, in a folder, with a solution file.
 *
 * Models are written into the working folder, so the test needs a scratch
 * folder (scratch.h).
 */
#ifndef MO_TESTS_SOLVERS_LIBRARY_CASE_H
#define MO_TESTS_SOLVERS_LIBRARY_CASE_H

#include "solvers/plugins/solver.h"

typedef struct library_way {
    const char *name;
    mo_status (*solve)(const mo_solver_install *found, const mo_solver_job *job,
                       mo_error *err);
    int (*version)(const char *library);
    const char *library; /* NULL: searched by the loader */
    bool stops;          /* on request */
} library_way;

/* The installed ones, set up by library_ways_find; missing ones are reported
 * on stderr. */
enum { LIBRARY_WAYS = 5 };
extern library_way library_ways[LIBRARY_WAYS];
extern int library_ways_found;
void library_ways_find(void);

/* Returns the real Gurobi of the private Python folder; NULL: none. */
const char *library_real_gurobi(void);

/* How a child ended. */
typedef struct library_end {
    int exit_code;        /* -1: ended by a signal */
    mo_solution *answer;  /* NULL: none */
    char last_line[2048]; /* of its output */
} library_end;

/* A job with default settings; its limit of time is longer than a test may
 * take. */
mo_solver_job library_job(const char *model);

/* signal_number is sent after so many seconds; 0: none. */
library_end library_run(const library_way *way, const mo_solver_job *job,
                        int signal_number, double after_s);
library_end library_query(int (*ask)(const char *library), const char *library);
void library_end_clear(library_end *end);

/* Returns the value of a column of the solution; NAN: missing. */
double library_value(const library_end *end, const char *name);

/*
 * Hard models. The first has many solutions, and none that can be proven
 * optimal in a minute. The second has one that is not found in a minute, which
 * is written to start.
 */
void library_write_knapsack(const char *model);
void library_write_split(const char *model, const char *start);

#endif
