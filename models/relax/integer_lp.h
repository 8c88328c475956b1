/* SPDX-License-Identifier: Apache-2.0 */
/*
 * integer_lp.h - a linear program with integer data, rows in compressed form.
 *
 *     minimise column 0,   a_i x >= b_i, <= b_i or = b_i,   lower <= x <= upper
 *
 * Every coefficient, right side and bound is an int64_t, so that statements
 * about the program can be computed without rounding (mo_dual_bound).  Rows
 * come from a formulation, through a sink, or one by one.  An object belongs to
 * one thread at a time.
 */
#ifndef MO_MODELS_RELAX_INTEGER_LP_H
#define MO_MODELS_RELAX_INTEGER_LP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "models/sink/sink.h"

/* Bounds of a column that has none. */
#define MO_INTEGER_LP_NO_LOWER INT64_MIN
#define MO_INTEGER_LP_NO_UPPER INT64_MAX

typedef struct mo_integer_lp_column {
    int64_t lower, upper;
    mo_variable_role role; /* with its first two numbers */
    int number[2];
} mo_integer_lp_column;

typedef struct mo_integer_lp {
    mo_integer_lp_column *columns;
    size_t n_columns, column_room;

    /* Row i: columns index[start[i]] ... index[start[i + 1] - 1], with the
     * coefficients there. */
    size_t n_rows, row_room;
    size_t *start;
    mo_sense *sense;
    int64_t *rhs;
    int *index;
    int64_t *coef;
    size_t n_terms, index_room, coef_room, start_room, rhs_room;
} mo_integer_lp;

/* Begins as zeros; frees what it owns and leaves zeros. */
void mo_integer_lp_clear(mo_integer_lp *lp);

/* Adds a column, whose number is lp->n_columns before. */
mo_status mo_integer_lp_add_column(mo_integer_lp *lp,
                                   const mo_integer_lp_column *column,
                                   mo_error *err);

/* Adds a row of n terms, over columns that exist, each at most once. */
mo_status mo_integer_lp_add_row(mo_integer_lp *lp, int n, const int *columns,
                                const int64_t *coefs, mo_sense sense,
                                int64_t rhs, mo_error *err);

/* A row of a sink; returns whether it is to be kept. */
typedef bool mo_integer_lp_filter(const mo_sink_row_terms *row);

/*
 * Makes a sink that appends a model to lp, which must outlive it; filter is
 * NULL to keep all rows.  All columns are appended, in their order.  Dropped
 * beside those of the filter are rows with a number that is no integer below
 * 2^53, the range in which every double stands for itself; bounds of columns
 * are rounded outwards.  So what results is the model or a relaxation of it.
 * More than max_terms terms are MO_E_LIMIT.  The caller frees *sink with
 * mo_sink_free().
 */
mo_status mo_integer_lp_sink_new(mo_integer_lp *lp,
                                 mo_integer_lp_filter *filter, size_t max_terms,
                                 mo_sink **sink, mo_error *err);

/* Removes the columns, but 0, that are in no row; the others keep their
 * order. */
mo_status mo_integer_lp_drop_unused(mo_integer_lp *lp, mo_error *err);

/*
 * A safe lower bound from approximate dual values (Neumaier and Shcherbina,
 * "Safe bounds in linear and mixed-integer linear programming", Math.
 * Programming 99, 2004), in exact arithmetic.
 *
 * For min c x over rows a_i x >= b_i and a box l <= x <= u, and for any y with
 * y_i >= 0,
 *
 *     c x = y b + (c - y A) x + y (A x - b)  >=  y b + sum_j min over the box
 *                                                      of (c - y A)_j x_j
 *
 * Rows <= have y_i <= 0, rows = either sign.  This holds for every y, however
 * it was found: a dual value of the wrong sign, an infinite one or none at all
 * is replaced by 0, which costs strength and never validity.  Here y is
 * rounded to multiples of 2^-48; all data are integers, so products and sums
 * are integers of at most 127 bits, computed without rounding.  So no solver,
 * no compiler and no rounding mode has to be relied on.
 */
typedef struct mo_dual_bound {
    bool found;    /* false: a column that needs a bound has none, or a number
                      does not fit */
    int64_t value; /* every point of the program whose objective is an integer
                      has at least this: the bound, rounded up */
} mo_dual_bound;

/* Computes the bound for n duals, by row; missing ones count as 0, further ones
 * are ignored.  Fails only when memory cannot be allocated.  Takes
 * O(rows + columns + terms) time. */
mo_status mo_dual_bound_compute(const mo_integer_lp *lp, const double *duals,
                                size_t n, mo_dual_bound *bound, mo_error *err);

#endif
