/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - state of the decomposition search `moirai`: the
 * segments of the instance, upper and lower bounds of their classes, and the
 * incumbent and the lower bound of the whole that follow from them.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_STATE_H
#define MO_SOLVERS_SEARCH_DRIVER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "models/frame/proven_bounds.h"
#include "models/patterns/pattern_set.h"
#include "schedule/schedule.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/decomp/segmentation.h"
#include "solvers/search/method.h"

typedef struct mo_search_priced_bound mo_search_priced_bound;

enum { MO_SEARCH_MAX_JOBS = 31 };

typedef struct mo_search_state {
    const mo_method_task *task;
    const mo_instance *x;
    mo_regime regime;
    int64_t begin_ns;    /* by mo_stop_clock_ns */
    bool memory_matters; /* some placement does not fit */

    mo_decomp_states states;
    mo_decomp_segments *segments;
    mo_decomp_classes *classes;
    mo_chain_blocks *blocks; /* NULL: no chain bounds */
    mo_forkjoin **forks;  /* by class: equal branches of its largest block; or
                             NULL */
    mo_decomp_path *path; /* scratch, for any shortest path */
    mo_search_priced_bound *priced; /* NULL: memory does not bind */

    mo_schedule *best;  /* incumbent, within memory, owned; NULL: none yet */
    uint64_t n_repairs; /* combinations of variants within memory so far */
    uint64_t n_merged;  /* jobs on segments whose schedules were merged ... */
    bool has_composed;  /* some combination was tried */
    int n_used[MO_SEARCH_MAX_JOBS + 1]; /* by maker: new variants of it in
                                           combinations that improved the
                                           incumbent */
    uint64_t n_composed; /* ... before the last of these combinations */
    int64_t lower_ns;
    int64_t whole_ns, whole_work; /* bound of the full instance and the counted
                                     work that repeats it; 0: none */
    int64_t colocation_ns; /* bound by colocation (0: none), and the work and
                              the nodes that repeat it */
    int64_t colocation_effort[2];
    double hoped; /* part of the makespan that may still be saved, by estimates
                     of candidate_select.h; 1 before there are any */
    int64_t upper_path_ns; /* shortest path through upper bounds, within memory
                              or not; INT64_MAX: none */
} mo_search_state;

/* Chooses states, decomposes the instance and sets trivial bounds. The caller
 * calls mo_search_state_close(), also after an error. task must outlive it. */
mo_status mo_search_state_open(const mo_method_task *task,
                               mo_search_state *search, mo_error *err);
void mo_search_state_close(mo_search_state *search);

/* Takes over a schedule of the whole, or NULL: it becomes the incumbent if it
 * is shorter and within memory, and updates the upper bounds of its segments'
 * classes; else it is freed. what is passed to the progress callback. */
mo_status mo_search_submit_schedule(mo_search_state *search,
                                    mo_schedule *schedule, const char *what,
                                    mo_error *err);

/* Raises the lower bound of the whole; a smaller value is ignored. */
void mo_search_raise_lower(mo_search_state *search, int64_t lower_ns,
                           const char *what);

/* Propagates changed bounds of classes to the whole: raises the lower bound,
 * and composes a new incumbent where the shortest path has become shorter. */
mo_status mo_search_update_bounds(mo_search_state *search, const char *what,
                                  mo_error *err);

/* Returns the makespan of the incumbent, INT64_MAX: none yet. */
int64_t mo_search_upper_ns(const mo_search_state *search);

/* Returns the relative gap, 1: no incumbent yet. */
double mo_search_gap(const mo_search_state *search);

/* Returns whether the gap is closed or within the task's tolerance. */
bool mo_search_is_done(const mo_search_state *search);

/* Submits the schedules of the fast methods of the table: a single device, HEFT
 * and the other list schedulers, as far as they are fast for so many ops.  The
 * result of the search is never worse than theirs. */
mo_status mo_search_initial_schedules(mo_search_state *search, mo_error *err);

/* Submits a schedule of a local search on the whole, the start of models that
 * are written without a search, where the gap is open and memory does not
 * matter; where it does, mo_search_initial_schedules() has done so. */
mo_status mo_search_initial_local_search(mo_search_state *search,
                                         mo_error *err);

/* Bounds the blocks of the segments' chains, and raises the lower bounds of
 * classes and of the whole by them. */
mo_status mo_search_initial_bounds(mo_search_state *search, mo_error *err);

/* Adds the bounds proven between cuts to strength, which has no pairs before;
 * where the blocks of a chain imply all that is known of a segment, the bounds
 * between the ops of its chain instead.  Adds nothing while some device is no
 * state. */
mo_status mo_search_export_proven_bounds(const mo_search_state *search,
                                         mo_proven_bounds *strength,
                                         mo_error *err);

/* Fills the set, which is empty: the parts of the incumbent and, as far as the
 * set's slack and the size of a model allow, all schedules of segments; and
 * lower bounds between the cuts, unless some device is no state. */
mo_status mo_search_export_patterns(const mo_search_state *search,
                                    mo_pattern_set *set, mo_error *err);

#endif
