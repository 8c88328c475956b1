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

#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"

/* What an evaluation may allocate: left of total bytes, which errors name. */
typedef struct mo_weights_limit {
    int64_t left, total;
} mo_weights_limit;

/* Fails if bytes exceed the limit, with op, size, limit and the option that
 * raises it. type may be NULL, and limit: none. */
mo_status mo_weights_check_limit(const mo_weights_limit *limit,
                                 const char *name, const char *type,
                                 int64_t bytes, mo_error *err);

/* All inputs of the site have values. Fills site->n_out tensors, which the
 * caller zeroes before and frees with mo_tensor_clear(); on failure they stay
 * zeroed. Fails before anything is allocated if outputs and temporaries exceed
 * limit. */
mo_status mo_weights_eval_op(const mo_op_site *site,
                             const mo_weights_limit *limit,
                             mo_tensor_dense *outputs, mo_error *err);

/* Runs one call; in and out by operand. The caller allocates out with the
 * right types and shapes. */
mo_status mo_weights_eval_call(const mo_call *call, const mo_tensor_dense *in,
                               mo_tensor_dense *out, mo_error *err);

#endif
