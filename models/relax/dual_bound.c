/* SPDX-License-Identifier: Apache-2.0 */
#include "models/relax/dual_bound.h"

#include <math.h>
#include <stdlib.h>

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

/* The multiple of 2^-SHIFT nearest to a dual value of a row of that sense, as
 * an integer; 0 for one that is none. */
static wide fixed_point(double dual, mo_sense sense)
{
    if (!isfinite(dual) || fabs(dual) >= ldexp(1, MAX_DUAL_BITS) ||
        (sense == MO_GE && dual < 0) || (sense == MO_LE && dual > 0))
        return 0;
    return (wide) rint(ldexp(dual, SHIFT));
}

/* sum_j min over the box of cost_j x_j */
static bool add_box(const mo_integer_lp *lp, const wide *cost, wide *sum)
{
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

/* cost begins as zeros and becomes c - y A; *sum becomes the dual objective. */
static bool add_all(const mo_integer_lp *lp, const double *duals, size_t n,
                    wide *cost, wide *sum)
{
    cost[0] = (wide) 1 << SHIFT;
    for (size_t i = 0; i < lp->n_rows && i < n; i++) {
        wide y = fixed_point(duals[i], lp->sense[i]);

        if (y == 0)
            continue;
        for (size_t t = lp->start[i]; t < lp->start[i + 1]; t++)
            if (!add_product(-y, lp->coef[t], &cost[lp->index[t]]))
                return false;
        if (!add_product(y, lp->rhs[i], sum))
            return false;
    }
    return add_box(lp, cost, sum);
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
