/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - a plan as text: JSON, one object (moirai-plan(5)).
 */
#ifndef MO_EXEC_PLAN_IR_PLAN_JSON_H
#define MO_EXEC_PLAN_IR_PLAN_JSON_H

#include "base/out.h"
#include "exec/plan/ir/plan.h"

/* The same plan is the same bytes. */
void mo_plan_write_json(const mo_exec_plan *plan, mo_out *out);

#endif
