/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm_start.h - warm start: makes a schedule of an instance from a schedule
 * of a similar instance with the same ops. The simulator takes the devices from
 * that schedule, and the priorities from its start times.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_WARM_START_H
#define MO_SOLVERS_SEARCH_PRIMAL_WARM_START_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/bound/segment_bound.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_primal_warm_start mo_primal_warm_start;

/* Allocates *warm, which can be used many times by one thread; the caller
 * frees it with mo_primal_warm_start_free(), which accepts NULL. x must
 * outlive it. */
mo_status mo_primal_warm_start_new(const mo_instance *x,
                                   const mo_regime *regime,
                                   mo_primal_warm_start **warm, mo_error *err);
void mo_primal_warm_start_free(mo_primal_warm_start *warm);

/* Replays a schedule with the pins of x. The caller frees *made; it is NULL if
 * the result takes below_ns or longer, or does not fit into memory. */
mo_status mo_primal_warm_start_from_schedule(mo_primal_warm_start *warm,
                                             const mo_schedule *original,
                                             int64_t below_ns,
                                             mo_schedule **made, mo_error *err);

/* Replays a schedule with two changes: the hint gives the devices and starts of
 * the ops of a segment, and the boundary (device of u * devices + device of v)
 * gives the devices of its ends. The caller frees *made; it is NULL if the
 * result does not fit into memory. */
mo_status mo_primal_warm_start_from_hint(mo_primal_warm_start *warm,
                                         const mo_schedule *original,
                                         const mo_bound_segment *segment,
                                         int boundary,
                                         const mo_decomp_solution_hint *hint,
                                         mo_schedule **made, mo_error *err);

#endif
