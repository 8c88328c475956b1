/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_schedule.h - the shortest schedule of the instance that is computed
 * here, by a heuristic or the search; of a model of the period, that of the
 * shortest period.
 *
 * Claims of solvers are compared with it; where it refutes one and is shorter
 * than their answers, it is the answer.
 */
#ifndef MO_DRIVER_KNOWN_SCHEDULE_H
#define MO_DRIVER_KNOWN_SCHEDULE_H

#include <stdbool.h>

#include "driver/portfolio.h"
#include "driver/select_answer.h"
#include "solvers/process/workdir.h"

/* Computes a heuristic schedule at the first call. Returns whether there is a
 * known schedule that claims about the model can be compared with; see
 * mo_answer_selector_can_refute(). Exhausted memory is noted in the
 * selector. */
bool mo_known_schedule_find(mo_answer_selector *selector);

/* Returns what the model minimises. */
mo_objective mo_known_schedule_objective(const mo_answer_selector *selector);

/* Takes over a validated schedule; it is freed if a shorter one is known. by is
 * a static string. Exhausted memory is noted in the selector. */
void mo_known_schedule_take(mo_answer_selector *selector, mo_schedule *schedule,
                            const char *by);

/* Enters the known schedule into the portfolio, if it is shorter than every
 * answer, and selects again. Does nothing where the model was edited or
 * extended, for the schedule need not respect its rows, or where its shapes are
 * not recorded in full. */
mo_status mo_known_schedule_enter(mo_answer_selector *selector,
                                  const mo_workdir *folder,
                                  mo_portfolio *portfolio,
                                  mo_answer_selection *selection,
                                  mo_error *err);

#endif
