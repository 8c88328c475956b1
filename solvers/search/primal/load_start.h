/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_start.h - initial schedules for the annealer of a fork-join segment with
 * many equal branches, where memory has a price per byte.
 *
 * The LP solution of the load bound (bound/load) gives the share of equal
 * branches on each device.  The shares are rounded to numbers of branches, once
 * for each pair of devices of u and v, the ends of the fork-join.  List
 * scheduling completes such a placement to a schedule.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_LOAD_START_H
#define MO_SOLVERS_SEARCH_PRIMAL_LOAD_START_H

#include "base/error.h"
#include "base/stop.h"
#include "schedule/schedule.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

/* The rounded placements of the branches, one for each pair of devices of u
 * and v. */
typedef struct mo_primal_load_start mo_primal_load_start;

/* Computes the placements; price_ns is the price of a resident byte by device.
 * Pairs that are left when the stop is reached have no placement.  *start is
 * NULL, with MO_OK returned, where the fork-join has few equal branches or too
 * many ops or devices.  fork is borrowed; the caller frees *start with
 * mo_primal_load_start_free(), which accepts NULL. */
mo_status mo_primal_load_start_new(const mo_forkjoin *fork,
                                   const mo_regime *regime,
                                   const double *price_ns, int threads,
                                   const mo_stop *stop,
                                   mo_primal_load_start **start, mo_error *err);
void mo_primal_load_start_free(mo_primal_load_start *start);

/* Schedules each placement that the pins of x allow, and stores the schedule
 * with the least sum of makespan and price of resident bytes in *schedule,
 * which the caller frees; NULL: no sum is below below_ns.  x is the fork's
 * instance, with other pins.  Any thread. */
mo_status mo_primal_load_start_schedule(const mo_primal_load_start *start,
                                        const mo_instance *x,
                                        const mo_regime *regime,
                                        const double *price_ns, double below_ns,
                                        mo_schedule **schedule, mo_error *err);

#endif
