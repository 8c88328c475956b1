/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sink/scale.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"

/* Least and largest horizon in units, and the fractions of a unit that are
 * written. */
enum { MIN_UNITS = 100, MAX_UNITS = 10000, FRACTIONS = 1000000 };

static bool in_range(int64_t horizon_ns, int64_t unit_ns)
{
    int64_t units = horizon_ns / unit_ns;

    return units >= MIN_UNITS &&
           (units < MAX_UNITS ||
            (units == MAX_UNITS && horizon_ns % unit_ns == 0));
}

int64_t mo_scale_unit_ns(int64_t horizon_ns)
{
    static const int64_t preferred[] = { 1000, 1000000, 1000000000 };
    int64_t unit = 1;

    if (horizon_ns < MIN_UNITS)
        return 1;
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++)
        if (in_range(horizon_ns, preferred[i]))
            return preferred[i];
    while (!in_range(horizon_ns, unit))
        unit *= 10;
    return unit;
}

/* ns / part, halves away from 0. */
static int64_t divide_nearest(int64_t ns, int64_t part)
{
    int64_t quotient = ns / part, rest = ns % part;

    if (rest >= part - rest)
        quotient++;
    else if (-rest >= part + rest)
        quotient--;
    return quotient;
}

int64_t mo_scale_step_ns(int64_t unit_ns)
{
    return unit_ns <= FRACTIONS ? 1 : unit_ns / FRACTIONS;
}

int64_t mo_scale_rounded_ns(int64_t step_ns, int64_t ns)
{
    return divide_nearest(ns, step_ns) * step_ns;
}

/* Either division is of two integers that a double holds, so the result is the
 * double nearest to the decimal fraction, which is what it is written as. */
double mo_scale_time(int64_t unit_ns, int64_t ns)
{
    assert(unit_ns > 0);
    if (unit_ns <= FRACTIONS)
        return (double) ns / (double) unit_ns;
    return (double) divide_nearest(ns, unit_ns / FRACTIONS) / FRACTIONS;
}

size_t mo_scale_unit_text(int64_t unit_ns, char *text)
{
    static const char names[][4] = { " ns", " us", " ms", " s" };
    size_t name = 0, length;

    while (name < 3 && unit_ns >= 1000) {
        unit_ns /= 1000;
        name++;
    }
    length = mo_number_write_int(text, unit_ns);
    strcpy(text + length, names[name]);
    return length + strlen(names[name]);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Largest scaled capacity.  Tolerances are absolute, so the larger it is the
 * fewer excess bytes a solver accepts: with this one less than a byte in 50
 * GB.  Twice as much may still be written. */
enum { MAX_CAPACITY = 500000 };

mo_memory_scale mo_memory_scale_for(const int64_t *bytes, int n,
                                    int64_t capacity_bytes)
{
    mo_memory_scale scale = { 0, 1 };

    for (int i = 0; i < n; i++)
        scale.shared = gcd(scale.shared, bytes[i]);
    if (scale.shared <= 0)
        scale.shared = 1;
    capacity_bytes /= scale.shared;
    while ((double) capacity_bytes / scale.ten >= MAX_CAPACITY)
        scale.ten *= 10;
    return scale;
}

double mo_memory_scale_size(const mo_memory_scale *scale, int64_t bytes)
{
    int64_t units = bytes / scale->shared;
    double size = (double) units / scale->ten;

    return size * FRACTIONS >= 1 ? size : 0;
}
