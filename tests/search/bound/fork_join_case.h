/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_join_case.h - the fork-join of all ops between u and v of an instance,
 * either of which may be missing.
 */
#ifndef MO_TESTS_SEARCH_BOUND_FORK_JOIN_CASE_H
#define MO_TESTS_SEARCH_BOUND_FORK_JOIN_CASE_H

#include "solvers/search/bound/forkjoin/fork_join.h"
#include "tests/support/problem.h"

typedef struct fork_join_case {
    problem problem; /* empty where the instance is borrowed */
    mo_allowed_devices places;
    mo_bound_segment segment;
    int *ops; /* of the segment */
    mo_forkjoin *fork;
} fork_join_case;

/* Builds problem and fork-join; the test fails on an error. The caller clears
 * *f. */
void fork_join_case_make(fork_join_case *f, const char *graph,
                         const char *cluster, const mo_regime *regime);

/* The same for a borrowed instance, which must outlive f. */
void fork_join_case_find(fork_join_case *f, const mo_instance *x,
                         const mo_regime *regime);

void fork_join_case_clear(fork_join_case *f);

#endif
