/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - the pass pipeline from a placed and scheduled graph to a plan:
 * lowering, optimization passes, transfer insertion, step order, stream
 * assignment, memory planning.
 */
#ifndef MO_EXEC_PLAN_BUILD_H
#define MO_EXEC_PLAN_BUILD_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/* Builds a plan; the caller frees *plan with mo_plan_free(). The plan borrows
 * constants of source->constants, which must outlive it; nothing else of
 * source. Every op without a lowering is reported to source->on_unsupported;
 * the error counts them. On failure *plan is unchanged. */
mo_status mo_plan_build(const mo_plan_source *source, mo_exec_plan **plan,
                        mo_error *err);

#endif
