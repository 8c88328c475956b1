/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_origin.h - provenance of an op's time: its source, what limits it, and
 * how far such times are typically from measured ones.
 */
#ifndef MO_COST_TIME_ORIGIN_H
#define MO_COST_TIME_ORIGIN_H

#include "cost/predict.h"

typedef enum mo_time_source {
    MO_TIME_GIVEN,        /* in the graph, time_us */
    MO_TIME_MEASURED,     /* in the profile */
    MO_TIME_INTERPOLATED, /* between rows of the profile */
    MO_TIME_SCALED,       /* by --cost wave, from a time on its origin */
    MO_TIME_PREDICTED,
    MO_TIME_ELSEWHERE, /* that of the only device the op may be placed on */
    MO_TIME_SOURCES
} mo_time_source;

/* The resource whose speed a predicted time depends on most. */
typedef enum mo_time_limit {
    MO_TIME_LIMIT_NONE, /* the time is not predicted, or 0 */
    MO_TIME_LIMIT_COMPUTE,
    MO_TIME_LIMIT_MEMORY,
    MO_TIME_LIMIT_LAUNCH, /* launches and latencies */
    MO_TIME_LIMITS
} mo_time_limit;

typedef struct mo_time_origin {
    mo_time_source source;
    mo_time_limit limit;
    mo_math math; /* of a predicted product; else MO_MATH_F32 */
    double error; /* relative: the spread of a measurement, the median error of
                     a prediction; NAN: unknown, such devices or types were
                     not measured */
} mo_time_origin;

extern const char *const mo_time_source_names[MO_TIME_SOURCES];
extern const char *const mo_time_limit_names[MO_TIME_LIMITS]; /* "": none */

/* Returns the origin of the time us that predictor has for an op on device. */
mo_time_origin mo_time_origin_predicted(const mo_predictor *predictor,
                                        const mo_predictor_input *input,
                                        const mo_device *device, double us);

#endif
