/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prove.h - which proofs about blocks raise the bound of the whole.
 *
 * The bound is the length of a shortest path.  To raise it, every path that is
 * too short has to become longer: targets are set for the blocks along one
 * after the other, by the room between what is proven of a block and what was
 * seen of it, until the shortest path would be long enough, were they all met.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_H

#include "base/error.h"
#include "solvers/search/driver/bound_job.h"
#include "solvers/search/driver/state.h"

typedef struct mo_search_bound_plan mo_search_bound_plan;

/* search, which has blocks, must outlive it. */
mo_status mo_search_bound_plan_new(mo_search_state *search,
                                   mo_search_bound_plan **prover,
                                   mo_error *err);
void mo_search_bound_plan_free(mo_search_bound_plan *prover);

/* The fast way for every block and boundary, where that is done in moments:
 * attempts for *proofs, which the caller frees. */
mo_status mo_search_bound_plan_initial_jobs(mo_search_bound_plan *prover,
                                            mo_search_bound_job **proofs,
                                            int *n, mo_error *err);

enum { MO_SEARCH_MAX_BOUND_JOBS = 4 };

/* What to prove next, at most so many and MO_SEARCH_MAX_BOUND_JOBS; 0: nothing
 * is worth it.  Those that are under way go on first.  Without take_time only
 * what is done in moments.  hoped is the part of the makespan that may still be
 * saved: what is above that cannot be proven. */
mo_status mo_search_bound_plan_next_jobs(mo_search_bound_plan *prover,
                                         bool take_time, double hoped,
                                         mo_search_bound_job *proofs, int most,
                                         int *n, mo_error *err);

/* Takes over what came of an attempt so far. */
void mo_search_bound_plan_merge_result(mo_search_bound_plan *prover,
                                       mo_search_bound_job *it);

#endif
