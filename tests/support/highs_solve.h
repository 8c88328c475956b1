/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.h - what HiGHS makes of a model file.
 *
 * The library is loaded at run time: MOIRAI_HIGHS_LIB says where it is, which
 * make check sets to what configure found.
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

/* Ends a test program that nothing can be solved for here, as one that was
 * skipped, saying why. */
void solve_or_skip(void);

/*
 * Reads an LP or MPS file, by its ending, and solves it: one thread, quiet, to
 * the end (no gap), tolerances as HiGHS has them, which are the ones it is
 * tested with.
 */
void solve_file(const char *path, solved *result);
void solved_clear(solved *result);

/* The value of the column of that name, 0 when there is none. */
double solved_value(const solved *result, const char *name);

#endif
