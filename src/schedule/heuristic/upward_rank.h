/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.h - in which order list scheduling looks at the ops.
 */
#ifndef MO_SCHEDULE_HEURISTIC_UPWARD_RANK_H
#define MO_SCHEDULE_HEURISTIC_UPWARD_RANK_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/*
 * Fills order with all ops by falling upward rank: the longest way from the op,
 * itself included, to an end of the graph, with ops and transfers as long as
 * they are on average; where a placement is given, as long as they are there.
 * Equal ranks go by number, so the order is topological.
 */
mo_status mo_upward_rank_order(const mo_instance *x, const mo_regime *regime,
                               const int *placement, int *order, mo_error *err);

#endif
