/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upward_rank.h - upward rank (b-level): the priority of list scheduling.
 */
#ifndef MO_SCHEDULE_HEURISTIC_UPWARD_RANK_H
#define MO_SCHEDULE_HEURISTIC_UPWARD_RANK_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/*
 * Fills order, a buffer of n ops, with all ops by decreasing upward rank: the
 * longest path from the op, itself included, to a sink, with mean costs of ops
 * and transfers; where a placement is given (not NULL), with its costs.  Equal
 * ranks go by number, so the order is topological.
 */
mo_status mo_upward_rank_order(const mo_instance *x, const mo_regime *regime,
                               const int *placement, int *order, mo_error *err);

#endif
