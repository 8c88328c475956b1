/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_calls.h - calls on any backend, with tensors of this process.
 *
 * Tests of calls and operators run them on the backend that MOIRAI_TEST_BACKEND
 * names, the CPU's unless given: the same claims hold everywhere.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_RUN_CALLS_H
#define MO_TESTS_EXEC_SUPPORT_RUN_CALLS_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"

/* The one that is named; the test fails when there is none of that name. */
const mo_backend *tested_backend(void);

/* A unit of it, opened once in a process and closed at its end.  Nothing is
 * measured; what is compiled is only kept if MOIRAI_CACHE is set. */
mo_backend_unit *tested_unit(const mo_backend *backend,
                             mo_backend_precision precision);

/* Calls with the tensors that their operands are the numbers of. */
typedef struct call_list {
    mo_call *calls;
    int n_calls;
    mo_tensor_dense *tensors;
    int n_tensors;
    const bool *constant; /* by tensor: told as a constant; NULL: none */
} call_list;

/* One after the other; tensors that are written are here again afterwards. */
mo_status run_calls(const mo_backend *backend, mo_backend_unit *unit,
                    const call_list *list, mo_error *err);

/* A whole operator, like mo_weights_eval_op: outputs is the caller's to clear.
 */
mo_status run_site(const mo_backend *backend, mo_backend_unit *unit,
                   const mo_op_site *site, mo_tensor_dense *outputs,
                   mo_error *err);

#endif
