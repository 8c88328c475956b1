/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_tensors.h - inputs of the network: from files, or random.
 */
#ifndef MO_DRIVER_EXEC_INPUT_TENSORS_H
#define MO_DRIVER_EXEC_INPUT_TENSORS_H

#include "base/error.h"
#include "driver/exec/exec_options.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/plan/ir/plan.h"
#include "graph/graph.h"

typedef struct mo_exec_inputs {
    mo_tensor_dense *values; /* by input of the plan */
    int n;
} mo_exec_inputs;

/*
 * Makes the inputs that rank reads (with all, those of every rank); the others
 * stay empty. g is the graph of the plan and bounds random indices. *inputs
 * begins as zeros; the caller clears it, also after a failure.
 */
mo_status mo_exec_inputs_make(const mo_exec_options *o, const mo_graph *g,
                              const mo_exec_plan *plan, const int *rank_of,
                              int rank, bool all, mo_exec_inputs *inputs,
                              mo_error *err);
void mo_exec_inputs_clear(mo_exec_inputs *inputs);

#endif
