/* SPDX-License-Identifier: Apache-2.0 */
/*
 * highs_solve.h - solves a model file with HiGHS.
 *
 * The library is loaded at run time from MOIRAI_HIGHS_LIB, which make check
 * sets to the one found by configure.
 */
#ifndef MO_TESTS_SUPPORT_HIGHS_SOLVE_H
#define MO_TESTS_SUPPORT_HIGHS_SOLVE_H

typedef enum solve_status {
    SOLVE_OPTIMAL,
    SOLVE_INFEASIBLE,
    SOLVE_OTHER /* a limit, a file it cannot read, a failure */
} solve_status;

typedef struct solved_column {
    char *name;
    double value;
} solved_column;

typedef struct solved {
    solve_status status;
    int highs_status; /* its own number, for messages */
    double objective;
    int rows, columns, nonzeros, integers; /* of the file as it was read */
    solved_column *values;                 /* sorted by name; when optimal */
} solved;

/* Exits a test program as skipped, with the reason, where no model can be
 * solved. */
void solve_or_skip(void);

/*
 * Reads an LP or MPS file, by its ending, and solves it: one thread, quiet, to
 * optimality (no gap), with HiGHS's default tolerances, the ones it is tested
 * with.
 */
void solve_file(const char *path, solved *result);
void solved_clear(solved *result);

/* Returns the value of the column of that name, 0 when there is none. */
double solved_value(const solved *result, const char *name);

#endif
