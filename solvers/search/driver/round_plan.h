/* SPDX-License-Identifier: Apache-2.0 */
/*
 * improve.h - rounds of attempts at segments.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_ROUND_PLAN_H
#define MO_SOLVERS_SEARCH_DRIVER_ROUND_PLAN_H

#include "base/error.h"
#include "solvers/search/driver/state.h"
#include "solvers/search/driver/primal_job.h"

typedef struct mo_search_round_plan mo_search_round_plan;

/* search must outlive it. */
mo_status mo_search_round_plan_new(mo_search_state *search,
                                   mo_search_round_plan **improver,
                                   mo_error *err);
void mo_search_round_plan_free(mo_search_round_plan *improver);

enum { MO_SEARCH_MAX_PRIMAL_JOBS = 256 };

/* First schedules for every boundary, or where that would take long for those
 * with both ends on one device: fills the next few attempts, at most
 * MO_SEARCH_MAX_PRIMAL_JOBS; 0: that was all. */
int mo_search_round_plan_initial_jobs(mo_search_round_plan *improver,
                                      mo_search_primal_job *tries);

/* What to try next, at most MO_SEARCH_MAX_PRIMAL_JOBS; none: nothing is worth
 * trying. *hoped is the part of the makespan that is hoped to be saved, sooner
 * or later. */
mo_status mo_search_round_plan_next_jobs(mo_search_round_plan *improver,
                                         int round, mo_search_primal_job *tries,
                                         int *n, double *hoped, mo_error *err);

/* Takes over what came of an attempt. */
mo_status mo_search_round_plan_merge_result(mo_search_round_plan *improver,
                                            mo_search_primal_job *it,
                                            mo_error *err);

#endif
