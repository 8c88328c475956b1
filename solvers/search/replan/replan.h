/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replan.h - re-planning: local search from the placement that is in use, for
 * a cluster, a network or times that have changed.
 *
 * Its result is never worse than that placement, as long as it is allowed and
 * within memory; the price of moving weights counts.
 */
#ifndef MO_SOLVERS_SEARCH_REPLAN_REPLAN_H
#define MO_SOLVERS_SEARCH_REPLAN_REPLAN_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "solvers/search/method.h"

/* The method replan: needs task->start.  It counts its work: it ends after that
 * of task->max_work, or about 0.4 s of one core; that, the input and the seed
 * determine the result, unless task->stop ends it.  It is not in the table of
 * methods and proves no bound. */
extern const mo_method mo_method_replan;

/* Returns what the weights of an op that moves from device a to b cost per
 * request; 0 for a MO_FREE: they come from no device. */
double mo_replan_move_ns(const mo_instance *x, const mo_method_start *start,
                         int op, int a, int b);

#endif
