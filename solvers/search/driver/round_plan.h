/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_plan.h - planner of the rounds of primal jobs: which subproblems, by
 * which algorithm (list scheduling, local search, exact search, MILP) and with
 * how much effort.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_ROUND_PLAN_H
#define MO_SOLVERS_SEARCH_DRIVER_ROUND_PLAN_H

#include "base/error.h"
#include "solvers/search/driver/primal_job.h"
#include "solvers/search/driver/state.h"

typedef struct mo_search_round_plan mo_search_round_plan;

/* Allocates *plan; the caller frees it with mo_search_round_plan_free(), which
 * accepts NULL. search must outlive it. */
mo_status mo_search_round_plan_new(mo_search_state *search,
                                   mo_search_round_plan **plan, mo_error *err);
void mo_search_round_plan_free(mo_search_round_plan *plan);

enum { MO_SEARCH_MAX_PRIMAL_JOBS = 256 };

/* Fills jobs with the next list-scheduling jobs, at most
 * MO_SEARCH_MAX_PRIMAL_JOBS, one for every boundary, or, where that would take
 * long, for those with equal devices. Returns their number; 0: no more. */
int mo_search_round_plan_initial_jobs(mo_search_round_plan *plan,
                                      mo_search_primal_job *jobs);

/* Fills jobs for a round, at most MO_SEARCH_MAX_PRIMAL_JOBS; *n is 0 where
 * none is worth it. *hoped is the fraction of the makespan that may still be
 * saved. */
mo_status mo_search_round_plan_next_jobs(mo_search_round_plan *plan, int round,
                                         mo_search_primal_job *jobs, int *n,
                                         double *hoped, mo_error *err);

/* Takes over the results of a job that has run, and clears them in the job.
 * Not thread-safe: call it in the order in which the jobs were planned. */
mo_status mo_search_round_plan_merge_result(mo_search_round_plan *plan,
                                            mo_search_primal_job *it,
                                            mo_error *err);

#endif
