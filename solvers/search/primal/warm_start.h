/* SPDX-License-Identifier: Apache-2.0 */
/*
 * like.h - schedules in the manner of others: devices from there, and who goes
 * first as it was there.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_WARM_START_H
#define MO_SOLVERS_SEARCH_PRIMAL_WARM_START_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "schedule/bound/segment_bound.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_primal_warm_start mo_primal_warm_start;

/* x must outlive it. */
mo_status mo_primal_warm_start_new(const mo_instance *x,
                                   const mo_regime *regime,
                                   mo_primal_warm_start **like, mo_error *err);
void mo_primal_warm_start_free(mo_primal_warm_start *like);

/* Like a schedule, but with x's pins.  *made is NULL where that takes at least
 * below_ns or does not fit into memory. */
mo_status mo_primal_warm_start_from_schedule(mo_primal_warm_start *like,
                                             const mo_schedule *model,
                                             int64_t below_ns,
                                             mo_schedule **made, mo_error *err);

/* Like a schedule but for the ops of a segment, which are as the hint has them,
 * and its ends, which are where its boundary of devices says. */
mo_status mo_primal_warm_start_from_hint(mo_primal_warm_start *like,
                                         const mo_schedule *model,
                                         const mo_bound_segment *segment,
                                         int boundary,
                                         const mo_decomp_solution_hint *hint,
                                         mo_schedule **made, mo_error *err);

#endif
