/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - what the methods of other people share.
 *
 * They choose a placement and an order; what those come to is simulated under
 * the task's regime, whatever the method believes about transfers.  HEFT and
 * its kin place and time at once, into gaps, and keep the times.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_BASELINE_H
#define MO_SOLVERS_SEARCH_BASELINES_BASELINE_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/heuristic/insertion.h"
#include "solvers/search/method.h"

/* Kahn's order, first in, first out: order[p] is the op at place p, and
 * place[op] the other way round. */
mo_status mo_baseline_topo_order(const mo_instance *x, int *order, int *place,
                                 mo_error *err);

/* The schedule becomes the answer, whatever the result; whether it fits is
 * found out. */
mo_status mo_baseline_set_schedule(const mo_method_task *task,
                                   mo_schedule *schedule,
                                   mo_method_result *placed, mo_error *err);

/* Simulates a device and a rank for each op; ranks are 0, ..., n - 1, and
 * where several could run the smallest goes first. */
mo_status mo_baseline_simulate(const mo_method_task *task, int *device,
                               int *rank, mo_method_result *placed,
                               mo_error *err);

/* The device that op is put on next; memory is no matter here, so there always
 * is one. */
typedef mo_status mo_baseline_choose_device(void *context, mo_insertion *grown,
                                            int op, int *device, mo_error *err);

/* Of the ops whose inputs have been made, the one of the highest priority (of
 * equals the first) is put where choose says. */
mo_status mo_baseline_list_schedule(const mo_method_task *task,
                                    const int64_t *priority,
                                    mo_baseline_choose_device *choose,
                                    void *context, mo_method_result *placed,
                                    mo_error *err);

/* Is it time, after so many steps in which n ops were placed?  Then the answer
 * is that there is none. */
bool mo_baseline_should_stop(const mo_method_task *task, int64_t steps, int n,
                             mo_method_result *placed);

/* The task's regime for who does not look at memory. */
mo_regime mo_baseline_regime_without_memory(const mo_method_task *task);

#endif
