/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - pseudo-random numbers, the same everywhere for a seed: splitmix64
 * (Steele, Lea, Flood, 2014).
 */
#ifndef MO_BASE_RANDOM_H
#define MO_BASE_RANDOM_H

#include <stdint.h>

typedef struct mo_random {
    uint64_t state; /* initially the seed, any value */
} mo_random;

static inline uint64_t mo_random_next(mo_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a number from 0 to bound - 1; bound is at least 1 and at most
 * 2^31. */
static inline int mo_random_below(mo_random *r, int bound)
{
    return (int) ((mo_random_next(r) >> 32) * (uint64_t) bound >> 32);
}

/* Returns a number of [0, 1). */
static inline double mo_random_unit(mo_random *r)
{
    return (double) (mo_random_next(r) >> 11) * 0x1p-53;
}

/* Returns a number of about exponential distribution with that mean, at least
 * 0. The integer part of the binary logarithm is exact, between powers of two
 * it is linear: no library function is used, so that the result is the same on
 * every machine. */
static inline int64_t mo_random_exponential(mo_random *r, int64_t mean)
{
    uint64_t u = mo_random_next(r) | 1;
    int whole = __builtin_clzll(u);
    int64_t part = (int64_t) (u << whole << 1 >> 48); /* of 65536 */
    int64_t log_2 = ((int64_t) (whole + 1) << 16) - part;
    int64_t log_e = log_2 * 45426 / 65536; /* times ln 2 */

    return mean / 65536 * log_e + mean % 65536 * log_e / 65536;
}

/* Derives the seed of stream `number` from a common seed. */
static inline uint64_t mo_random_seed(uint64_t seed, uint64_t number)
{
    mo_random r = { seed ^ number * UINT64_C(0xd1342543de82ef95) };

    return mo_random_next(&r);
}

#endif
