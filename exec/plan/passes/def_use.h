/*
 * uses.h - who makes each value of a plan, and who reads it.
 */
#ifndef MO_EXEC_PLAN_PASSES_DEF_USE_H
#define MO_EXEC_PLAN_PASSES_DEF_USE_H

#include "base/error.h"
#include "exec/plan/plan.h"

/* By value; MO_PLAN_NONE where there is none. */
typedef struct mo_uses {
    int *maker;  /* the call that makes it */
    int *reads;  /* how many operands are it; views and outputs count */
    int *reader; /* the last call that reads it */
    int *view;   /* the last view of it */
} mo_uses;

/* uses begins as zeros, and is cleared whatever comes of it. */
mo_status mo_uses_find(const mo_plan *plan, mo_uses *uses, mo_error *err);
void mo_uses_clear(mo_uses *uses);

#endif
