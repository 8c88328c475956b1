/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - interpreter: evaluates one operator immediately, in this
 * process.
 *
 * For constant folding and for tests: the operator is lowered and its calls
 * run on the CPU backend with one thread.
 */
#ifndef MO_EXEC_WEIGHTS_EVALUATE_H
#define MO_EXEC_WEIGHTS_EVALUATE_H

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"

/* All inputs of the site have values. Fills site->n_out tensors, which the
 * caller zeroes before and frees with mo_tensor_clear(); on failure they stay
 * zeroed. */
mo_status mo_weights_eval_op(const mo_op_site *site, mo_tensor_dense *outputs,
                             mo_error *err);

/* Runs one call; in and out by operand. The caller allocates out with the
 * right types and shapes. */
mo_status mo_weights_eval_call(const mo_call *call, const mo_tensor_dense *in,
                               mo_tensor_dense *out, mo_error *err);

#endif
