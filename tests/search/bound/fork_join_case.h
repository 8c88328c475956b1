/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forked.h - the fork between an instance's ops u and v: all others.  There may
 * be no u, and no v.
 */
#ifndef MO_TESTS_SEARCH_BOUND_FORK_JOIN_CASE_H
#define MO_TESTS_SEARCH_BOUND_FORK_JOIN_CASE_H

#include "solvers/search/bound/forkjoin/fork_join.h"
#include "tests/support/problem.h"

typedef struct forked {
    problem problem; /* empty where the instance is somebody else's */
    mo_allowed_devices places;
    mo_bound_segment segment;
    int *ops; /* the segment's */
    mo_forkjoin *fork;
} forked;

/* The test fails when there is no such fork. */
void forked_make(forked *f, const char *graph, const char *cluster,
                 const mo_regime *regime);

/* The same of an instance that is there already and outlives f. */
void forked_find(forked *f, const mo_instance *x, const mo_regime *regime);

void forked_clear(forked *f);

#endif
