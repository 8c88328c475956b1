/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_phases.h - one plan of the phases of a workload.
 *
 * The plans of the phases stand behind each other in all arrays: the merged
 * plan is opened once, with each weight once on its device, and a run takes the
 * steps of one phase. Phases share the memory of their values, since one runs
 * at a time, but for states, which are at the same place in all of them:
 *
 *     bytes  |-- states --|-------- prefill --------|
 *            |-- states --|--- decode ---|
 */
#ifndef MO_EXEC_PLAN_MERGE_PHASES_H
#define MO_EXEC_PLAN_MERGE_PHASES_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* Merges n plans of the same devices, which *merged owns afterwards, and on
 * success only; the caller frees it with mo_plan_free(). Fails with MO_E_INPUT
 * if the phases have different states on a device. */
mo_status mo_plan_merge_phases(mo_exec_plan *const *plans,
                               const char *const *names, int n,
                               mo_exec_plan **merged, mo_error *err);

#endif
