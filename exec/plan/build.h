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

/*
 * merge_phases.c: merges n plans of the same devices, those of the phases of a
 * workload, into one, which owns them afterwards, and on success only; the
 * caller frees *merged with mo_plan_free(). Fails with MO_E_INPUT if the phases
 * have different states on a device.
 *
 * The plans of the phases stand behind each other in all arrays: the merged
 * plan is opened once, with each weight once on its device, and a run takes the
 * steps of one phase. Phases share the memory of their values, since one runs
 * at a time, but for states, which are at the same place in all of them:
 *
 *     bytes  |-- states --|-------- prefill --------|
 *            |-- states --|--- decode ---|
 */
mo_status mo_plan_merge_phases(mo_exec_plan *const *plans,
                               const char *const *names, int n,
                               mo_exec_plan **merged, mo_error *err);

#endif
