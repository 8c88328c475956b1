/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_method.h - proximal bundle method (Kiwiel, 1990; Hiriart-Urruty and
 * Lemarechal, 1993): maximises a concave function of a few nonnegative
 * variables that is given by values and supergradients.
 *
 * Every evaluation gives a supporting plane; the next point maximises the
 * least of them minus a quadratic penalty on the distance from the best point
 * so far.  For Lagrangian duals every point evaluated is a bound, so that
 * nothing depends on how exactly the maximum is found.
 */
#ifndef MO_SCHEDULE_BOUND_BUNDLE_METHOD_H
#define MO_SCHEDULE_BOUND_BUNDLE_METHOD_H

#include <stdbool.h>

#include "base/error.h"
#include "base/stop.h"

typedef struct mo_bundle_problem {
    int n; /* variables, at least 1; scaled so that they are of one size */
    /* Sets *value and the n numbers of gradient at the point. */
    void (*evaluate)(void *context, const double *point, double *value,
                     double *gradient);
    void *context;
    int max_evaluations;
    double tolerance;    /* relative to the value: less is not worth a step */
    bool is_inexact;     /* values may be too large; those of planes are not */
    const mo_stop *stop; /* NULL: none */
    int64_t work;        /* of an evaluation (mo_stop_spend) */
} mo_bundle_problem;

/* Improves *point, n numbers >= 0, and sets *value to its value.  Fails only
 * when memory cannot be allocated.  Deterministic unless stopped. */
mo_status mo_bundle_maximize(const mo_bundle_problem *problem, double *point,
                             double *value, mo_error *err);

#endif
