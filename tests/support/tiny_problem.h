/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiny_problem.h - property tests of lower bounds: tiny random problems of
 * several families, and a table of bounds that are compared with their optimum.
 *
 *     static const tiny_bound bounds[] = {
 *         { "path", path_ns, "bound_load,bound_chain", .reached = 1 <<
 * TINY_CHAIN },
 *     };
 *
 *     START_TEST(no_bound_is_above_the_optimum)
 *     {
 *         tiny_check(bounds, COUNT(bounds), (unsigned) _i);
 *     }
 *
 * A seed has one problem of every family, and is checked in some regimes, or
 * with MOIRAI_LONG in all of them.  Failures name bound, seed, family and
 * regime, with the texts of graph and cluster.
 */
#ifndef MO_TESTS_SUPPORT_TINY_PROBLEM_H
#define MO_TESTS_SUPPORT_TINY_PROBLEM_H

#include <stdint.h>

#include "schedule/regime.h"
#include "tests/support/problem.h"

typedef enum tiny_family {
    TINY_CHAIN,  /* each op sends one tensor to the next; some are pinned */
    TINY_DEVICE, /* any graph on one device */
    TINY_EQUAL,  /* equal ops without edges on equal devices; the number of
                    ops is a multiple of that of devices */
    TINY_FORK,   /* in-trees, some equal, between u and v, either of which may
                    be missing; both are pinned and take no time, so that the
                    optimum is that of the time between them */
    TINY_RANDOM, /* pins, groups, tight memory: random_problem.h */
    N_TINY_FAMILIES
} tiny_family;

enum { TINY_ALL = (1 << N_TINY_FAMILIES) - 1 };

typedef struct tiny_problem {
    problem problem;
    tiny_family family;
    unsigned seed;
    char *graph, *cluster; /* their texts */
} tiny_problem;

/* The same everywhere for a family and a seed.  The caller clears t. */
void tiny_make(tiny_problem *t, tiny_family family, unsigned seed);
void tiny_clear(tiny_problem *t);

/* Returns a lower bound of x in ns.  A destructive bound, which refutes a time
 * instead of computing one, is tested at optimum_ns: it returns optimum_ns + 1
 * if it refutes the optimum, which is a fault; optimum_ns if it refutes a time
 * below the optimum, as it should; 0 if it refutes neither. */
typedef int64_t tiny_bound_ns(const mo_instance *x, const mo_regime *regime,
                              int64_t optimum_ns);

typedef struct tiny_bound {
    const char *name;
    tiny_bound_ns *bound_ns;
    const char *ablate; /* MOIRAI_ABLATE meanwhile; NULL: nothing */
    unsigned reached;   /* families in which it is the optimum up to 1/1000,
                           by bit, without memory limits */
} tiny_bound;

/* Checks all bounds: none is above the optimum. */
void tiny_check(const tiny_bound *bounds, int n, unsigned seed);

#endif
