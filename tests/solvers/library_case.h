/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_case.h - the library ways, run as moirai-solve runs them: in a child,
 * in a folder, with an answer to be read.
 *
 * Models are written into the working folder, so the test must have a scratch
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
    const char *library; /* NULL: the loader's */
    bool stops;          /* when it is asked to */
} library_way;

/* What is here to be tested, set up by library_ways_find; the others are told
 * on stderr. */
enum { LIBRARY_WAYS = 5 };
extern library_way library_ways[LIBRARY_WAYS];
extern int library_ways_found;
void library_ways_find(void);

/* The real Gurobi of the private Python folder; NULL: there is none. */
const char *library_real_gurobi(void);

/* How a child of ours ended. */
typedef struct library_end {
    int exit_code;         /* -1: a signal ended it */
    double seconds;        /* all of it */
    double after_signal_s; /* what of it came after the signal it was sent */
    mo_solution *answer;   /* NULL: none was left */
    char last_line[2048];  /* of what it printed */
} library_end;

/* A job with nothing special about it. */
mo_solver_job library_job(const char *model);

/* signal_number is sent after as many seconds; 0: none. */
library_end library_run(const library_way *way, const mo_solver_job *job,
                        int signal_number, double after_s);
library_end library_ask(int (*ask)(const char *library), const char *library);
void library_end_clear(library_end *end);

/* The value of a column of the answer; NAN: it is not there. */
double library_value(const library_end *end, const char *name);

/*
 * Models that are hard, each for its own reason.  The first has solutions at
 * hand, and none that can be proven best in a minute.  The second has one that
 * is not found in a minute, which is written to start.
 */
void library_write_knapsack(const char *model);
void library_write_split(const char *model, const char *start);

#endif
