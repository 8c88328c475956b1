/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - calls whose result follows from constants, done while planning.
 *
 * The scale of a batch normalisation, say: what an operator leaves to be
 * computed from its weights.
 */
#ifndef MO_EXEC_PLAN_PASSES_CONST_FOLD_H
#define MO_EXEC_PLAN_PASSES_CONST_FOLD_H

#include "base/error.h"
#include "exec/plan/plan.h"

/* Before there are transfers and steps.  Small results only. */
mo_status mo_pass_const_fold(mo_exec_plan *plan, mo_error *err);

#endif
