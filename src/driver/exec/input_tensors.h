/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_inputs.h - the network's inputs: from files, or made up.
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
 * Those that rank (or, with all, anybody) reads; others stay empty.  g is the
 * graph the plan is of: it tells how large made-up indices may be.  Begins as
 * zeros, and is the caller's to clear whatever the result.
 */
mo_status mo_exec_inputs_make(const mo_exec_options *o, const mo_graph *g,
                              const mo_exec_plan *plan, const int *rank_of,
                              int rank, bool all, mo_exec_inputs *inputs,
                              mo_error *err);
void mo_exec_inputs_clear(mo_exec_inputs *inputs);

#endif
