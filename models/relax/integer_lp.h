/* SPDX-License-Identifier: Apache-2.0 */
/*
 * integer_lp.h - a linear program with integer data, rows in compressed form.
 *
 *     minimise column 0,   a_i x >= b_i, <= b_i or = b_i,   lower <= x <= upper
 *
 * Every coefficient, right side and bound is an int64_t, so that statements
 * about the program can be computed without rounding
 * (models/relax/dual_bound.h).  Rows come from a formulation, through a sink,
 * or one by one.  An object belongs to one thread at a time.
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

#endif
