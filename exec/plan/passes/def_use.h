/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uses.h - who makes each value of a plan, and who reads it.
 */
#ifndef MO_EXEC_PLAN_PASSES_DEF_USE_H
#define MO_EXEC_PLAN_PASSES_DEF_USE_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* By value; MO_PLAN_NONE where there is none. */
typedef struct mo_pass_def_use {
    int *maker;  /* the call that makes it */
    int *reads;  /* how many operands are it; views and outputs count */
    int *reader; /* the last call that reads it */
    int *view;   /* the last view of it */
} mo_pass_def_use;

/* uses begins as zeros, and is cleared whatever comes of it. */
mo_status mo_pass_def_use_build(const mo_exec_plan *plan, mo_pass_def_use *uses,
                                mo_error *err);
void mo_pass_def_use_clear(mo_pass_def_use *uses);

#endif
