/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.h - lowering of a placed graph to calls and values.
 */
#ifndef MO_EXEC_PLAN_LOWER_LOWER_H
#define MO_EXEC_PLAN_LOWER_LOWER_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/* Creates values, calls in the order of the schedule (order of their items),
 * inputs and outputs. Transfers are still missing: a call may read a value of
 * another device. */
mo_status mo_plan_lower(const mo_plan_source *source, mo_exec_plan *plan,
                        mo_error *err);

#endif
