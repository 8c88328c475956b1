/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - what the method `moirai` knows so far: the whole in segments,
 * times of their classes from above and from below, and what follows for the
 * whole.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_STATE_H
#define MO_SOLVERS_SEARCH_DRIVER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/schedule.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/method.h"
#include "solvers/search/decomp/segmentation.h"
#include "solvers/search/decomp/boundary_path.h"

typedef struct mo_search_state {
    const mo_method_task *task;
    const mo_instance *x;
    mo_regime regime;
    int64_t begin_ns;    /* by mo_stop_clock_ns */
    bool memory_matters; /* not every placement fits */

    mo_decomp_states states;
    mo_decomp_segments *segments;
    mo_decomp_classes *classes;
    mo_chain_blocks *blocks; /* NULL: bounds are of the whole alone */
    mo_decomp_path *path;    /* for whoever looks for one */

    mo_schedule *best; /* within memory; NULL: none yet */
    int64_t lower_ns;
    int64_t upper_path_ns; /* the shortest way through upper times so far,
                             within memory or not; INT64_MAX: none */
} mo_search_state;

/* Chooses states, takes the instance apart and bounds what can be in moments.
 */
mo_status mo_search_state_open(const mo_method_task *task,
                               mo_search_state *search, mo_error *err);
void mo_search_state_close(mo_search_state *search);

/* A schedule of the whole: kept as the best, where it is within memory and
 * better, and its segments with their classes.  It is the caller's no more. */
mo_status mo_search_submit_schedule(mo_search_state *search,
                                    mo_schedule *schedule, const char *what,
                                    mo_error *err);

/* A bound for the whole. */
void mo_search_raise_lower(mo_search_state *search, int64_t lower_ns,
                           const char *what);

/* Times of classes have changed: what does that make of the whole? */
mo_status mo_search_update_bounds(mo_search_state *search, const char *what,
                                  mo_error *err);

/* The makespan, INT64_MAX where there is none yet. */
int64_t mo_search_upper_ns(const mo_search_state *search);

/* Close enough, or proven. */
bool mo_search_is_done(const mo_search_state *search);

#endif
