/* SPDX-License-Identifier: Apache-2.0 */
#include "models/relax/integer_lp.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

void mo_integer_lp_clear(mo_integer_lp *lp)
{
    free(lp->columns);
    free(lp->start);
    free(lp->sense);
    free(lp->rhs);
    free(lp->index);
    free(lp->coef);
    *lp = (mo_integer_lp){ 0 };
}

mo_status mo_integer_lp_add_column(mo_integer_lp *lp,
                                   const mo_integer_lp_column *column,
                                   mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(lp->columns, lp->n_columns, lp->column_room, err);

    if (status == MO_OK && lp->n_columns >= INT_MAX)
        status = mo_fail(err, MO_E_LIMIT,
                         "the linear program has more than "
                         "%d columns",
                         INT_MAX);
    if (status == MO_OK)
        lp->columns[lp->n_columns++] = *column;
    return status;
}

/* Room for one more row of n terms. */
static mo_status reserve_row(mo_integer_lp *lp, size_t n, mo_error *err)
{
    size_t n_terms = lp->n_terms + n, n_rows = lp->n_rows + 1;
    mo_status status = mo_array_reserve((void **) &lp->index, &lp->index_room,
                                        n_terms + 1, sizeof *lp->index, err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &lp->coef, &lp->coef_room,
                                  n_terms + 1, sizeof *lp->coef, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &lp->start, &lp->start_room,
                                  n_rows + 1, sizeof *lp->start, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &lp->rhs, &lp->rhs_room, n_rows,
                                  sizeof *lp->rhs, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &lp->sense, &lp->row_room, n_rows,
                                  sizeof *lp->sense, err);
    return status;
}

mo_status mo_integer_lp_add_row(mo_integer_lp *lp, int n, const int *columns,
                                const int64_t *coefs, mo_sense sense,
                                int64_t rhs, mo_error *err)
{
    mo_status status = reserve_row(lp, (size_t) n, err);

    if (status != MO_OK)
        return status;
    for (int t = 0; t < n; t++) {
        lp->index[lp->n_terms + (size_t) t] = columns[t];
        lp->coef[lp->n_terms + (size_t) t] = coefs[t];
    }
    lp->start[lp->n_rows] = lp->n_terms;
    lp->sense[lp->n_rows] = sense;
    lp->rhs[lp->n_rows++] = rhs;
    lp->n_terms += (size_t) n;
    lp->start[lp->n_rows] = lp->n_terms;
    return MO_OK;
}

mo_status mo_integer_lp_drop_unused(mo_integer_lp *lp, mo_error *err)
{
    int *number = calloc(lp->n_columns + 1, sizeof *number);
    size_t kept = 0;

    if (!number)
        return mo_fail_memory(err);
    number[0] = 1;
    for (size_t t = 0; t < lp->n_terms; t++)
        number[lp->index[t]] = 1;
    for (size_t j = 0; j < lp->n_columns; j++) {
        bool used = number[j] == 1;

        number[j] = used ? (int) kept : -1;
        if (used)
            lp->columns[kept++] = lp->columns[j];
    }
    lp->n_columns = kept;
    for (size_t t = 0; t < lp->n_terms; t++)
        lp->index[t] = number[lp->index[t]];
    free(number);
    return MO_OK;
}

typedef struct lp_sink {
    mo_sink common;
    mo_integer_lp *lp;
    mo_integer_lp_filter *filter;
    size_t max_terms, first_column;
    int64_t *coefs; /* of the row at hand */
    size_t room;
} lp_sink;

/* Integers below this are doubles, and no other integer rounds to them. */
#define EXACT 9007199254740992.0 /* 2^53 */

static bool is_exact(double value)
{
    return value > -EXACT && value < EXACT && value == floor(value);
}

static void take_column(mo_sink *sink, int id, const mo_variable *v)
{
    lp_sink *s = (lp_sink *) sink;
    bool binary = v->kind == MO_VARIABLE_BINARY;
    double lower = binary ? 0 : floor(v->lower);
    double upper = binary ? 1 : ceil(v->upper);
    const mo_integer_lp_column column = {
        .lower = is_exact(lower) ? (int64_t) lower : MO_INTEGER_LP_NO_LOWER,
        .upper = is_exact(upper) ? (int64_t) upper : MO_INTEGER_LP_NO_UPPER,
        .role = v->role,
        .number = { v->number[0], v->number[1] }
    };

    (void) id;
    mo_integer_lp_add_column(s->lp, &column, &sink->failure);
}

static bool is_row_exact(const mo_sink_row_terms *row)
{
    if (!is_exact(row->rhs))
        return false;
    for (int t = 0; t < row->n; t++)
        if (!is_exact(row->coefs[t]))
            return false;
    return true;
}

static void take_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    lp_sink *s = (lp_sink *) sink;
    size_t at = s->lp->n_terms;

    if ((s->filter && !s->filter(row)) || !is_row_exact(row))
        return;
    if (s->lp->n_terms + (size_t) row->n > s->max_terms) {
        mo_fail(&sink->failure, MO_E_LIMIT,
                "the linear program has more than %zu coefficients",
                s->max_terms);
        return;
    }
    if (mo_array_reserve((void **) &s->coefs, &s->room, (size_t) row->n,
                         sizeof *s->coefs, &sink->failure) != MO_OK)
        return;
    for (int t = 0; t < row->n; t++)
        s->coefs[t] = (int64_t) row->coefs[t];
    if (mo_integer_lp_add_row(s->lp, row->n, row->columns, s->coefs, row->sense,
                              (int64_t) row->rhs, &sink->failure) != MO_OK)
        return;
    for (; at < s->lp->n_terms; at++)
        s->lp->index[at] += (int) s->first_column;
}

static void free_sink(mo_sink *sink)
{
    free(((lp_sink *) sink)->coefs);
}

mo_status mo_integer_lp_sink_new(mo_integer_lp *lp,
                                 mo_integer_lp_filter *filter, size_t max_terms,
                                 mo_sink **sink, mo_error *err)
{
    static const mo_sink_kind kind = { .passes = 1,
                                       .wants_rows = true,
                                       .column = take_column,
                                       .row = take_row,
                                       .free = free_sink };
    lp_sink *s = mo_sink_new(&kind, sizeof *s, err);

    if (!s)
        return MO_E_MEMORY;
    s->lp = lp;
    s->filter = filter;
    s->max_terms = max_terms;
    s->first_column = lp->n_columns;
    *sink = &s->common;
    return MO_OK;
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* Dual values are multiples of 2^-SHIFT, and less than 2^MAX_DUAL_BITS. */
enum { SHIFT = 48, MAX_DUAL_BITS = 60, WIDE_BITS = 127 };

/* Bits of the magnitude of a number that is not 0. */
static int count_bits(wide value)
{
    unsigned_wide magnitude =
        value < 0 ? -(unsigned_wide) value : (unsigned_wide) value;
    unsigned long long high = (unsigned long long) (magnitude >> 64),
                       low = (unsigned long long) magnitude;

    return high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low);
}

/* *sum += a * b; returns false where that may not fit.  A product of numbers of
 * m and n bits has at most m + n. */
static bool add_product(wide a, wide b, wide *sum)
{
    if (a == 0 || b == 0)
        return true;
    if (count_bits(a) + count_bits(b) > WIDE_BITS)
        return false;
    return !__builtin_add_overflow(*sum, a * b, sum);
}

/* cost begins as zeros and becomes c - y A; *sum becomes the dual objective. */
static bool add_all(const mo_integer_lp *lp, const double *duals, size_t n,
                    wide *cost, wide *sum)
{
    cost[0] = (wide) 1 << SHIFT;
    for (size_t i = 0; i < lp->n_rows && i < n; i++) {
        wide y;
        double dual = duals[i];

        if (!isfinite(dual) || fabs(dual) >= ldexp(1, MAX_DUAL_BITS) ||
            (lp->sense[i] == MO_GE && dual < 0) ||
            (lp->sense[i] == MO_LE && dual > 0))
            y = 0;
        else
            y = (wide) rint(ldexp(dual, SHIFT));
        if (y == 0)
            continue;
        for (size_t t = lp->start[i]; t < lp->start[i + 1]; t++)
            if (!add_product(-y, lp->coef[t], &cost[lp->index[t]]))
                return false;
        if (!add_product(y, lp->rhs[i], sum))
            return false;
    }
    /* sum_j min over the box of cost_j x_j */
    for (size_t j = 0; j < lp->n_columns; j++) {
        const mo_integer_lp_column *column = &lp->columns[j];

        if (cost[j] > 0 && (column->lower == MO_INTEGER_LP_NO_LOWER ||
                            !add_product(cost[j], column->lower, sum)))
            return false;
        if (cost[j] < 0 && (column->upper == MO_INTEGER_LP_NO_UPPER ||
                            !add_product(cost[j], column->upper, sum)))
            return false;
    }
    return true;
}

/* sum / 2^SHIFT, rounded up; returns false where it does not fit. */
static bool round_up(wide sum, int64_t *value)
{
    const wide unit = (wide) 1 << SHIFT;
    wide quotient = sum / unit + (sum % unit > 0);

    if (quotient < INT64_MIN || quotient > INT64_MAX)
        return false;
    *value = (int64_t) quotient;
    return true;
}

mo_status mo_dual_bound_compute(const mo_integer_lp *lp, const double *duals,
                                size_t n, mo_dual_bound *bound, mo_error *err)
{
    wide *cost = calloc(lp->n_columns + 1, sizeof *cost);
    wide sum = 0;

    if (!cost)
        return mo_fail_memory(err);
    *bound = (mo_dual_bound){ 0 };
    bound->found =
        add_all(lp, duals, n, cost, &sum) && round_up(sum, &bound->value);
    free(cost);
    return MO_OK;
}
