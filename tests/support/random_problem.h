/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_problem.h - small random problems, in the text form of problem.h.
 *
 *     random_problem r;
 *
 *     random_problem_make(&r, seed);
 *     problem_make(&p, r.graph, r.cluster, NULL);
 *     random_problem_clear(&r);
 *
 * The same seed gives the same problem everywhere: four to six ops, two or
 * three devices, small enough for exhaustive.h.  Among them are those with
 * tight memory and with too little, tensors with several readers and several
 * tensors between two ops, ops and transfers that take no time, pins, groups,
 * several components, devices that are equal, and routes over several links.
 */
#ifndef MO_TESTS_SUPPORT_RANDOM_PROBLEM_H
#define MO_TESTS_SUPPORT_RANDOM_PROBLEM_H

#include "tests/support/problem.h"

typedef struct random_problem {
    char *graph, *cluster;
} random_problem;

/* Between fewest and most ops; at most 6 of them. */
void random_problem_sized(random_problem *r, unsigned seed, int fewest,
                          int most);
void random_problem_make(random_problem *r, unsigned seed);
void random_problem_clear(random_problem *r);

/* A property to check in the regime of that number (reference_validate.h) of
 * the problem of a seed. */
typedef void regime_claim(const problem *p, int number, unsigned seed);

/* Checks it in every regime; the second of two to four ops, for slow
 * properties. */
void random_problem_check(unsigned seed, regime_claim *claim);
void random_problem_check_small(unsigned seed, regime_claim *claim);

#endif
