/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_choice.h - algorithm and effort of one primal job: list scheduling,
 * local search, exact search or a MILP, by size, structure and level of the
 * subproblem.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_JOB_CHOICE_H
#define MO_SOLVERS_SEARCH_DRIVER_JOB_CHOICE_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/driver/candidate_select.h"
#include "solvers/search/driver/primal_job.h"
#include "solvers/search/driver/state.h"

enum { MO_SEARCH_MAX_COPIES = 4 }; /* of a job, with different seeds */

/* Returns the segment with the most ops, owned by the chain. */
const mo_bound_segment *mo_search_largest_segment(const mo_bound_chain *chain);

/* Fills *it, a copy (from 0) of the job of a candidate at the level after that
 * of its boundary. forks has the equal branches of the largest block of each
 * class, or NULL. The job borrows from search and forks. */
mo_status mo_search_job_choose(mo_search_state *search,
                               mo_forkjoin *const *forks,
                               const mo_search_candidate *chosen, int copy,
                               uint64_t seed, mo_search_primal_job *it,
                               mo_error *err);

#endif
