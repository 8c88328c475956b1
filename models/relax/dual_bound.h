/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dual_bound.h - a safe lower bound from approximate dual values (Neumaier and
 * Shcherbina, "Safe bounds in linear and mixed-integer linear programming",
 * Math. Programming 99, 2004), in exact arithmetic.
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
#ifndef MO_MODELS_RELAX_DUAL_BOUND_H
#define MO_MODELS_RELAX_DUAL_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "models/relax/integer_lp.h"

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
