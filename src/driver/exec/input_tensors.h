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
#include "solvers/process/path_util.h"

typedef struct mo_exec_inputs {
    mo_tensor_dense *values; /* by input of the plan */
    int n;
} mo_exec_inputs;

/*
 * Makes the inputs that rank reads, or all of them where rank_of is NULL; the
 * others stay empty. g is the graph of the plan and bounds random indices.
 * *inputs begins as zeros; the caller clears it, also after a failure.
 */
mo_status mo_exec_inputs_make(const mo_exec_options *o, const mo_graph *g,
                              const mo_exec_plan *plan, const int *rank_of,
                              int rank, mo_exec_inputs *inputs, mo_error *err);
void mo_exec_inputs_clear(mo_exec_inputs *inputs);

/* Appends the shapes of the arrays in files of --input to hints, as texts of
 * mo_read_options. A file that cannot be read gives none. */
mo_status mo_exec_inputs_hints(const mo_option_list *list, mo_path_list *hints,
                               mo_error *err);

/* Sets files[i] to the file that --input gives for input i; the others stay
 * NULL. The texts are those of list. */
mo_status mo_exec_inputs_find_files(const mo_option_list *list,
                                    const mo_exec_plan *plan,
                                    const char **files, mo_error *err);

/* Fails with MO_E_INPUT unless a tensor of that type and shape can be the
 * input; file is for the error. And makes one of it that can; *value is the
 * caller's in any case. */
mo_status mo_exec_input_check(const mo_plan_input *input, const char *file,
                              const mo_tensor_desc *desc, mo_error *err);
mo_status mo_exec_input_convert(const mo_plan_input *input,
                                mo_tensor_dense *value, mo_error *err);

/* Makes input i: from its file, or random by that seed where file is NULL. The
 * caller clears *value. */
mo_status mo_exec_input_make(int64_t seed, const mo_graph *g,
                             const mo_exec_plan *plan, int i, const char *file,
                             mo_tensor_dense *value, mo_error *err);

#endif
