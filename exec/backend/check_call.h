/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_call.h - validation of calls, common to all backends.
 *
 * Each function returns MO_OK; MO_E_SUPPORT if no backend computes the call
 * with operands of these types; or MO_E_INPUT if its parameters contradict the
 * shapes of its operands.
 */
#ifndef MO_EXEC_BACKEND_CHECK_CALL_H
#define MO_EXEC_BACKEND_CHECK_CALL_H

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/op/call.h"

mo_status mo_backend_check_attention(const mo_call *call,
                                     const mo_backend_operand *in,
                                     const mo_tensor_desc *out, mo_error *err);
mo_status mo_backend_check_gather(const mo_call *call,
                                  const mo_backend_operand *in,
                                  const mo_tensor_desc *out, mo_error *err);
mo_status mo_backend_check_grid_sample(const mo_call *call,
                                       const mo_backend_operand *in,
                                       const mo_tensor_desc *out,
                                       mo_error *err);
mo_status mo_backend_check_interpolate(const mo_call *call,
                                       const mo_backend_operand *in,
                                       const mo_tensor_desc *out,
                                       mo_error *err);
mo_status mo_backend_check_pool(const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, mo_error *err);
mo_status mo_backend_check_range(const mo_call *call,
                                 const mo_backend_operand *in, mo_error *err);
mo_status mo_backend_check_rnn(const mo_call *call,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out, mo_error *err);
mo_status mo_backend_check_scatter(const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out, mo_error *err);

#endif
