/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order_times.h - start times of a solution that has none, from its placement
 * and the sequencing columns o_i_j and h_q_r.
 *
 * The selected disjunctive arcs and the precedences are a DAG; its longest
 * paths are the earliest starts (Balas, 1969). A MIP start file, .mst, has
 * integer columns only.
 */
#ifndef MO_SOLVERS_ANSWER_ORDER_TIMES_H
#define MO_SOLVERS_ANSWER_ORDER_TIMES_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"
#include "solvers/formats/solution.h"

/* Returns whether the solution has a column of times, s_i or t_q. */
bool mo_answer_has_times(const mo_solution *solution);

/* Sets the starts of s, whose placement is decoded, to the earliest ones that
 * the orders allow, and *has_order; without any order s is unchanged.
 * MO_E_INPUT: the orders are a cycle, or name what is not there. */
mo_status mo_answer_order_times(const mo_solution *solution,
                                const mo_instance *x, double tolerance,
                                mo_schedule *s, bool *has_order, mo_error *err);

#endif
