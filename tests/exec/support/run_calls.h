/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_calls.h - runs calls on any backend, with tensors in host memory.
 *
 * Tests of calls and operators run on the backend that MOIRAI_TEST_BACKEND
 * names, by default the CPU: the same properties hold everywhere.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_RUN_CALLS_H
#define MO_TESTS_EXEC_SUPPORT_RUN_CALLS_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"

/* Returns the backend under test; the test fails when there is none of that
 * name. */
const mo_backend *tested_backend(void);

/* Returns a unit of it, opened once in a process and closed at its end.
 * Autotuning is off; compiled kernels are cached only if MOIRAI_CACHE is
 * set. */
mo_backend_unit *tested_unit(const mo_backend *backend,
                             mo_backend_precision precision);

/* Calls with the tensors that their operands number. */
typedef struct call_list {
    mo_call *calls;
    int n_calls;
    mo_tensor_dense *tensors;
    int n_tensors;
    const bool *constant; /* by tensor: passed as a constant; NULL: none */
} call_list;

/* Runs them one after the other; written tensors are copied back. */
mo_status run_calls(const mo_backend *backend, mo_backend_unit *unit,
                    const call_list *list, mo_error *err);

/* Runs an operator, like mo_weights_eval_op: the caller clears outputs. */
mo_status run_site(const mo_backend *backend, mo_backend_unit *unit,
                   const mo_op_site *site, mo_tensor_dense *outputs,
                   mo_error *err);

#endif
