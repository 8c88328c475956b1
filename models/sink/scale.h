/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - numerical scaling: nanoseconds and bytes as coefficients of a
 * range that solvers handle.
 *
 * The time unit is a power of ten of nanoseconds, chosen so that the horizon
 * is between 1e2 and 1e4 units: tolerances of solvers are absolute.  Times are
 * written to the millionth of a unit, which is exact below ten seconds or so.
 */
#ifndef MO_MODELS_SINK_SCALE_H
#define MO_MODELS_SINK_SCALE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the unit for a horizon: 1, 10, 100, ... ns.  1 us, 1 ms and 1 s are
 * preferred where they are in range. */
int64_t mo_scale_unit_ns(int64_t horizon_ns);

/* Returns ns in units, rounded to the nearest millionth of a unit. */
double mo_scale_time(int64_t unit_ns, int64_t ns);

/* Returns the finest time that is written, in nanoseconds: a millionth of the
 * unit, or a nanosecond. */
int64_t mo_scale_step_ns(int64_t unit_ns);

/* Returns the multiple of a step that is nearest to ns. */
int64_t mo_scale_rounded_ns(int64_t step_ns, int64_t ns);

/* Writes "10 us", "1 ms", "100 ns" into text, a buffer of at least 32
 * characters; returns the length. */
size_t mo_scale_unit_text(int64_t unit_ns, char *text);

/* A memory row in numbers up to 500,000: sizes are divided by their common
 * divisor, then by a power of ten; exact up to 15 digits.  The capacity, which
 * need not be a multiple, is rounded down to one, which excludes nothing.  A
 * size below 1e-6 of the scale counts as 0: it is within every tolerance. */
typedef struct mo_memory_scale {
    int64_t shared; /* greatest common divisor of all sizes on the left */
    double ten;     /* power of ten */
} mo_memory_scale;

/* Returns the scale for n sizes and the capacity; the second returns a scaled
 * size. */
mo_memory_scale mo_memory_scale_for(const int64_t *bytes, int n,
                                    int64_t capacity_bytes);
double mo_memory_scale_size(const mo_memory_scale *scale, int64_t bytes);

#endif
