/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_model_build.h - steps of building a task model, in order. Each returns
 * MO_OK unless memory runs out.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_BUILD_H
#define MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_BUILD_H

#include "solvers/search/exact/task_model.h"

typedef struct mo_exact_builder {
    mo_exact_model *m;
    mo_exact_core *core;
    int *transfer_mode; /* by flow or tensor and two devices: the mode, or -1 */
    int *clause;        /* buffer for one clause */
} mo_exact_builder;

/* Returns the entry of an item's mode from one device to another. */
int *mo_exact_transfer_mode_slot(const mo_exact_builder *b, int item, int from,
                                 int to);

/* Whether producer and reader of a flow are placed as one. */
bool mo_exact_is_colocated(const mo_exact_model *m, const mo_flow *f);

mo_status mo_exact_build_precedences(mo_exact_builder *b, mo_error *err);
mo_status mo_exact_build_resource_uses(mo_exact_builder *b, mo_error *err);
mo_status mo_exact_build_disjunctions(mo_exact_builder *b, mo_error *err);
mo_status mo_exact_build_adjacency(mo_exact_builder *b, mo_error *err);

#endif
