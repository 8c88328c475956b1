/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_steps.h - the scheduling passes over a plan: transfers, step order,
 * streams and memory.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_SCHEDULE_STEPS_H
#define MO_EXEC_PLAN_SCHEDULE_SCHEDULE_STEPS_H

#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/* Makes the transfers of the plan and lets every call read values of its own
 * device.  A transfer of what another one brought has the larger number.
 * *start_ns, by transfer: when the schedule starts it; free() it. */
mo_status mo_plan_insert_transfers(const mo_plan_source *source,
                                   mo_exec_plan *plan, int64_t **start_ns,
                                   mo_error *err);

/* The steps of every device; start_ns is what mo_plan_insert_transfers told.
 * May be done again, as may lanes and memory, which follow from it.
 * exec/plan/schedule/step_order.c */
mo_status mo_plan_order_steps(const mo_plan_source *source, mo_exec_plan *plan,
                              const int64_t *start_ns, mo_error *err);
/* What may run side by side on a device of several lanes; lanes as in
 * mo_plan_source.  exec/plan/schedule/streams.c */
mo_status mo_plan_assign_streams(const int *max_streams, mo_exec_plan *plan,
                                 mo_error *err);
/* Gives every value its place; exec/plan/schedule/memory_plan.c.  Two values
 * whose lives overlap never share a byte.  A value that is sent lives until its
 * transfer is awaited by the sender. */
mo_status mo_plan_assign_memory(mo_exec_plan *plan, mo_error *err);

#endif
