/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_start.h - starts of annealing with prices of memory: equal branches
 * placed as in the fractional solutions of the load bound, rounded.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_LOAD_START_H
#define MO_SOLVERS_SEARCH_PRIMAL_LOAD_START_H

#include "base/error.h"
#include "base/stop.h"
#include "schedule/schedule.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

/* Placements of the branches for each pair of devices of u and v. */
typedef struct mo_primal_load_start mo_primal_load_start;

/* Allocates the placements for prices of a byte by device, with so many
 * threads; a stop leaves some out.  *start is NULL, with MO_OK returned, where
 * the branches are few or ops or devices many.  fork is borrowed; the caller
 * frees *start with mo_primal_load_start_free(), which accepts NULL. */
mo_status mo_primal_load_start_new(const mo_forkjoin *fork,
                                   const mo_regime *regime,
                                   const double *price_ns, int threads,
                                   const mo_stop *stop,
                                   mo_primal_load_start **start, mo_error *err);
void mo_primal_load_start_free(mo_primal_load_start *start);

/* Stores the list schedule of least priced time in *schedule, which the caller
 * frees; NULL: none below below_ns.  x is the fork's instance, with other pins.
 * Any thread. */
mo_status mo_primal_load_start_schedule(const mo_primal_load_start *start,
                                        const mo_instance *x,
                                        const mo_regime *regime,
                                        const double *price_ns, double below_ns,
                                        mo_schedule **schedule, mo_error *err);

#endif
