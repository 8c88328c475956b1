/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_plan.h - column generation of segment schedules under memory limits:
 * which classes to anneal with the prices of memory, for variants that the
 * resource-constrained shortest path can use.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PRICED_PLAN_H
#define MO_SOLVERS_SEARCH_DRIVER_PRICED_PLAN_H

#include "base/error.h"
#include "solvers/search/driver/primal_job.h"
#include "solvers/search/driver/state.h"

/* Appends priced annealing jobs, and jobs that fill up devices, to the *n jobs,
 * up to most in all: none where memory does not bind.  forks, by class, are the
 * equal branches, borrowed. */
mo_status mo_search_priced_plan_jobs(mo_search_state *search, int round,
                                     mo_forkjoin *const *forks,
                                     mo_search_primal_job *jobs, int *n,
                                     int most, mo_error *err);

#endif
