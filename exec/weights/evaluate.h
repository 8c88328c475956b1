/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - one operator, done at once in this process.
 *
 * For constants that follow from constants, and for tests: the operator is
 * lowered and its calls are run by the CPU backend with one thread.
 */
#ifndef MO_EXEC_WEIGHTS_EVALUATE_H
#define MO_EXEC_WEIGHTS_EVALUATE_H

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"

/* All inputs of the site have values.  Fills site->n_out tensors, which are the
 * caller's to clear (zeros before; cleared again on failure). */
mo_status mo_weights_eval_op(const mo_op_site *site, mo_tensor_dense *outputs,
                             mo_error *err);

/* One call: in and out by operand, out of the right size. */
mo_status mo_weights_eval_call(const mo_call *call, const mo_tensor_dense *in,
                               mo_tensor_dense *out, mo_error *err);

#endif
