/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - the pass pipeline from a placed and scheduled graph to a plan:
 * lowering, optimization passes, transfers, step order, streams, memory.
 */
#ifndef MO_EXEC_PLAN_BUILD_H
#define MO_EXEC_PLAN_BUILD_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/* Constants must outlive the plan.  Ops that cannot be run are all found and
 * told; the error counts them.  Values have places: mo_plan_assign_memory was
 * done. */
mo_status mo_plan_build(const mo_plan_source *source, mo_exec_plan **plan,
                        mo_error *err);

#endif
