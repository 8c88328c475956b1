/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minmax.h - integer arithmetic: minimum, maximum, ceiling division,
 * comparison; minimum and maximum of doubles, too.
 *
 * Functions rather than macros: each argument is evaluated once and converted
 * to the type in the name.  For doubles the result is b unless a compares less
 * (min) or greater (max), so that a NaN in a yields b.
 */
#ifndef MO_BASE_MINMAX_H
#define MO_BASE_MINMAX_H

#include <stddef.h>
#include <stdint.h>

#define MO_MINMAX(suffix, type)                                                \
    static inline type mo_min_##suffix(type a, type b)                         \
    {                                                                          \
        return a < b ? a : b;                                                  \
    }                                                                          \
    static inline type mo_max_##suffix(type a, type b)                         \
    {                                                                          \
        return a > b ? a : b;                                                  \
    }

MO_MINMAX(int, int)
MO_MINMAX(i64, int64_t)
MO_MINMAX(size, size_t)
MO_MINMAX(double, double)

#undef MO_MINMAX

/* The quotient rounded up; a is not negative, b is positive. */
static inline int64_t mo_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Ascending order, for qsort(). */
static inline int mo_compare_int(const void *a, const void *b)
{
    int x = *(const int *) a, y = *(const int *) b;

    return (x > y) - (x < y);
}

static inline int mo_compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

    return (x > y) - (x < y);
}

#endif
