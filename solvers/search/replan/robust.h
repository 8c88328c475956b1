/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robust.h - robust placement (minimax): local search for the least worst case
 * of schedule/period/stress.h.
 */
#ifndef MO_SOLVERS_SEARCH_REPLAN_ROBUST_H
#define MO_SOLVERS_SEARCH_REPLAN_ROBUST_H

#include "solvers/search/method.h"

/* The method robust: needs task->start with a schedule within memory, and
 * task->stress, above 1.  The worst case of its result is never worse than that
 * of the start.  It counts its work: it ends after that of task->max_work, or
 * about a second of one core; that, the input and the seed determine the
 * result, unless task->stop ends it.  It is not in the table of methods and
 * proves no bound. */
extern const mo_method mo_method_robust;

#endif
