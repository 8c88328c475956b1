/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_targets.h - internal to bound_plan.c: the targets of bound jobs, by
 * block and boundary, so that no path would be shorter than a goal if all of
 * them were proven.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_TARGETS_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

/* State of a block at a boundary. */
typedef struct mo_search_bound_target {
    int64_t failed_ns; /* least target failed at this effort, or INT64_MAX */
    int64_t uses;      /* while planning: occurrences on the current path */
    int effort;        /* from 1 on; 0: the load bound has not run */
    int turn; /* while planning: path that raised it first, from 1 on; 0: none
               */
} mo_search_bound_target;

typedef struct mo_search_bound_targets {
    mo_search_state *search; /* the caller's, as are its blocks */
    mo_chain_blocks *blocks;
    int n_boundaries;
    mo_search_bound_target *targets; /* by block and boundary */
    int64_t **raised_ns; /* by block and boundary: with targets proven */
    int64_t **times_ns; /* by class and boundary: what follows from raised_ns */
    int *uses;          /* by class and boundary: occurrences on the path */
    int *boundaries;    /* scratch, by segment of a chain */
} mo_search_bound_targets;

/* *targets begins as zeros; the caller clears it, also after a failure. search,
 * which has blocks, must outlive it. */
mo_status mo_search_bound_targets_init(mo_search_bound_targets *targets,
                                       mo_search_state *search, mo_error *err);
void mo_search_bound_targets_clear(mo_search_bound_targets *targets);

static inline mo_search_bound_target *
mo_search_bound_target_at(const mo_search_bound_targets *m, int block,
                          int boundary)
{
    return &m->targets[(size_t) block * (size_t) m->n_boundaries +
                       (size_t) boundary];
}

/* Returns whether a block is so small that it is searched exactly; others get
 * the load bound first. */
bool mo_search_bound_targets_is_exact(const mo_search_bound_targets *targets,
                                      int block);

/* Begins a plan: nothing is raised above the bounds. */
void mo_search_bound_targets_reset(mo_search_bound_targets *targets);

/* Counts the occurrences of every target on the last path. */
mo_status mo_search_bound_targets_count_uses(mo_search_bound_targets *targets,
                                             mo_error *err);

/* Begins a plan and raises targets until the shortest path has the goal's
 * length or cannot grow. All paths grow together, step by step: boundaries
 * shared by many paths are then raised no more than others. */
mo_status mo_search_bound_targets_raise_paths(mo_search_bound_targets *targets,
                                              int64_t goal_ns, mo_error *err);

/* Returns how many paths a plan lengthens at most, the largest turn. */
int mo_search_bound_targets_max_paths(const mo_search_bound_targets *targets);

/* Increases the effort of the targets on the path that have failed at the
 * present one, and reopens them; returns whether there were any. */
bool mo_search_bound_targets_raise_effort(mo_search_bound_targets *targets);

#endif
