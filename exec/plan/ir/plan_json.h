/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_json.h - writes a plan as a JSON object (moirai-plan(5)).
 */
#ifndef MO_EXEC_PLAN_IR_PLAN_JSON_H
#define MO_EXEC_PLAN_IR_PLAN_JSON_H

#include "base/out.h"
#include "exec/plan/ir/plan.h"

/* Deterministic: equal plans yield equal bytes. Errors stay in out. */
void mo_plan_write_json(const mo_exec_plan *plan, mo_out *out);

#endif
