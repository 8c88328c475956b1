/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_plan.h - planner of bound jobs: which block at which boundary, and
 * which target.
 *
 * The lower bound is the length of a shortest path. To raise it, every path
 * that is too short has to become longer: targets are set for the blocks on
 * one path after the other, in proportion to the gap between lower bound and
 * best known time of a block, until the shortest path would be long enough if
 * all targets were proven.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_H

#include "base/error.h"
#include "solvers/search/driver/bound_job.h"
#include "solvers/search/driver/state.h"

typedef struct mo_search_bound_plan mo_search_bound_plan;

/* Allocates *plan; the caller frees it with mo_search_bound_plan_free(), which
 * accepts NULL. search, which has blocks, must outlive it. */
mo_status mo_search_bound_plan_new(mo_search_state *search,
                                   mo_search_bound_plan **plan, mo_error *err);
void mo_search_bound_plan_free(mo_search_bound_plan *plan);

/* Allocates *jobs, the load bound of every block and boundary, where all of
 * them together are fast; *n is 0 and *jobs NULL otherwise. The caller frees
 * *jobs. */
mo_status mo_search_bound_plan_initial_jobs(mo_search_bound_plan *plan,
                                            mo_search_bound_job **jobs, int *n,
                                            mo_error *err);

enum { MO_SEARCH_MAX_BOUND_JOBS = 4 };

/* Fills the next jobs, at most `most` and MO_SEARCH_MAX_BOUND_JOBS; *n is 0
 * where none is worth it. Interrupted jobs are continued first. Without
 * take_time only load bounds. hoped is the fraction of the makespan that may
 * still be saved: a bound above the remainder cannot be proven. */
mo_status mo_search_bound_plan_next_jobs(mo_search_bound_plan *plan,
                                         bool take_time, double hoped,
                                         mo_search_bound_job *jobs, int most,
                                         int *n, mo_error *err);

/* Takes over the results of a job so far; an interrupted job is kept. Not
 * thread-safe. */
void mo_search_bound_plan_merge_result(mo_search_bound_plan *plan,
                                       mo_search_bound_job *it);

#endif
