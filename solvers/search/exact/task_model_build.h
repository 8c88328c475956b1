/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_build.h - the parts of making an exact_model.h, in order.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_BUILD_H
#define MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_BUILD_H

#include "solvers/search/exact/task_model.h"

typedef struct mo_exact_model_builder {
    mo_exact_model *m;
    mo_exact_core *core;
    int *send_mode; /* by flow or tensor and two devices: the mode, or -1 */
    int *clause;    /* room for one */
} mo_exact_model_builder;

/* The clause, or that no schedule exists. */
void mo_exact_build_clause(mo_exact_model_builder *b, const int *literals,
                           int n);
void mo_exact_build_binary_clause(mo_exact_model_builder *b, int l0, int l1);

mo_status mo_exact_build_task(mo_exact_model_builder *b, mo_exact_task task,
                              mo_error *err);

/* Another mode of the last task. */
mo_status mo_exact_build_mode(mo_exact_model_builder *b,
                              mo_exact_task_mode mode, mo_error *err);

/* Where item goes from device a to b. */
int *mo_exact_build_transfer_mode(const mo_exact_model_builder *b, int item,
                                  int from, int to);

mo_status mo_exact_build_transfers(mo_exact_model_builder *b, mo_error *err);
mo_status mo_exact_build_precedences(mo_exact_model_builder *b, mo_error *err);
mo_status mo_exact_build_resource_uses(mo_exact_model_builder *b,
                                       mo_error *err);
mo_status mo_exact_build_disjunctions(mo_exact_model_builder *b, mo_error *err);
mo_status mo_exact_build_symmetry(mo_exact_model_builder *b, mo_error *err);
mo_status mo_exact_build_adjacency(mo_exact_model_builder *b, mo_error *err);

#endif
