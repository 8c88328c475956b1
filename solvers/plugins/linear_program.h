/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_program.h - a linear program in memory, in the form in which solvers'
 * libraries take one: columns compressed, rows as ranges.
 *
 *     minimise cost x,   row_lower <= A x <= row_upper,   lower <= x <= upper
 *
 * Every row has one finite side, or two that are equal; other sides are
 * infinite.
 */
#ifndef MO_SOLVERS_PLUGINS_LINEAR_PROGRAM_H
#define MO_SOLVERS_PLUGINS_LINEAR_PROGRAM_H

/* Plain arrays, owned by the maker of the struct. */
typedef struct mo_linear_program {
    int n_columns, n_rows, n_terms;
    double *cost, *lower, *upper; /* by column */
    double *row_lower, *row_upper;
    int *start; /* by column, and the end of the last */
    int *index; /* rows */
    double *coef;
} mo_linear_program;

/* What a solver found; any of it may be wrong. */
typedef struct mo_linear_program_answer {
    double objective;
    double *duals; /* by row; >= 0 for a lower side, <= 0 for an upper */
} mo_linear_program_answer;

#endif
