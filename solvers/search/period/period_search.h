/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period_search.h - the method moirai for the objective period: Lagrangian
 * bound, baselines, and simulated annealing in rounds on the true objective.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PERIOD_SEARCH_H
#define MO_SOLVERS_SEARCH_PERIOD_PERIOD_SEARCH_H

#include "base/error.h"
#include "solvers/search/method.h"

/* As mo_method.place; the schedule is that of one request at a time with the
 * placement found, lower_ns a bound of the period. */
mo_status mo_period_search_place(const mo_method_task *task,
                                 mo_method_result *placed, mo_error *err);

#endif
