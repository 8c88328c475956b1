/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prove_parts.h - what the files of prove.h share: aims, which are proofs that
 * may be worth it, and how far paths are raised by them.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_INTERNAL_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_INTERNAL_H

#include "solvers/search/driver/bound_plan.h"

enum {
    MO_SEARCH_BOUND_EXACT_MAX_OPS =
        22, /* blocks of so few are searched through */
    MO_SEARCH_BOUND_MAX_EFFORT =
        7, /* then there is no more hope for a target */
    MO_SEARCH_BOUND_COLGEN_EFFORT =
        5, /* the first that tells much, of large blocks */
    MO_SEARCH_BOUND_COLGEN_MAX_EFFORT = 7
};

/* By block and boundary. */
typedef struct mo_search_bound_target {
    int64_t failed_ns; /* not proven with this effort; INT64_MAX: all others */
    int64_t uses;      /* while planning: on the path that is looked at */
    int effort;        /* from 1 on; 0: not even the fast way has been gone */
    int turn;          /* while planning: when it was raised first, from 1 on */
} mo_search_bound_target;

struct mo_search_bound_plan {
    mo_search_state *search;
    mo_chain_blocks *blocks;
    int n_boundaries;
    mo_forkjoin **forks;          /* by block, or NULL until one is asked for */
    mo_search_bound_target *aims; /* by block and boundary */
    int64_t **raised_ns; /* by block and boundary: taken to be proven */
    int64_t **times_ns;  /* by class and boundary: what those come to */
    int *uses;           /* by class and boundary: on the path */
    int *boundaries;     /* by segment of a class */
    mo_search_bound_job going[MO_SEARCH_MAX_BOUND_JOBS]; /* under way, the first
                                                            to begin first */
    int n_going;
};

static inline mo_search_bound_target *aim_of(const mo_search_bound_plan *m,
                                             int block, int boundary)
{
    return &m->aims[(size_t) block * (size_t) m->n_boundaries +
                    (size_t) boundary];
}

/* Small blocks are searched through; others are looked at the fast way first.
 */
static inline bool is_small(const mo_search_bound_plan *m, int block)
{
    return m->blocks->blocks[block].segment->n <= MO_SEARCH_BOUND_EXACT_MAX_OPS;
}

static inline int most_effort(const mo_search_bound_plan *m, int block)
{
    return is_small(m, block) ? MO_SEARCH_BOUND_MAX_EFFORT
                              : MO_SEARCH_BOUND_COLGEN_MAX_EFFORT;
}

/* Nothing is raised yet. */
void mo_search_bound_plan_reset(mo_search_bound_plan *m);

/* Fills uses of the aims for the path found last. */
mo_status mo_search_bound_plan_count_path(mo_search_bound_plan *m,
                                          mo_error *err);

/* The most paths that are raised in one plan. */
int mo_search_bound_plan_max_paths(const mo_search_bound_plan *m);

/* Raises paths until the shortest is as long as the goal, or cannot be: fills
 * raised_ns, and turn of the aims that it needs for that. */
mo_status mo_search_bound_plan_raise_paths(mo_search_bound_plan *m,
                                           int64_t goal_ns, mo_error *err);

#endif
