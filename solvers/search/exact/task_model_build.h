/*
 * exact_build.h - the parts of making an exact_model.h, in order.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_BUILD_H
#define MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_BUILD_H

#include "solvers/search/exact/task_model.h"

typedef struct mo_exact_build {
    mo_exact_model *m;
    mo_core *core;
    int *send_mode; /* by flow or tensor and two devices: the mode, or -1 */
    int *clause;    /* room for one */
} mo_exact_build;

/* The clause, or that no schedule exists. */
void mo_build_clause(mo_exact_build *b, const int *literals, int n);
void mo_build_clause_2(mo_exact_build *b, int l0, int l1);

mo_status mo_build_task(mo_exact_build *b, mo_exact_task task, mo_error *err);

/* Another mode of the last task. */
mo_status mo_build_mode(mo_exact_build *b, mo_mode mode, mo_error *err);

/* Where item goes from device a to b. */
int *mo_build_send_mode(const mo_exact_build *b, int item, int from, int to);

mo_status mo_build_sends(mo_exact_build *b, mo_error *err);
mo_status mo_build_rules(mo_exact_build *b, mo_error *err);
mo_status mo_build_uses(mo_exact_build *b, mo_error *err);
mo_status mo_build_orders(mo_exact_build *b, mo_error *err);
mo_status mo_build_symmetry(mo_exact_build *b, mo_error *err);
mo_status mo_build_lists(mo_exact_build *b, mo_error *err);

#endif
