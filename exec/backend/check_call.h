/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - calls that no backend runs: those of types that have no meaning
 * there, and those that speak of other sizes than their tensors have.
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
mo_status mo_backend_check_interpolate(const mo_call *call,
                                       const mo_backend_operand *in,
                                       const mo_tensor_desc *out,
                                       mo_error *err);
mo_status mo_backend_check_pool(const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, mo_error *err);
mo_status mo_backend_check_range(const mo_call *call,
                                 const mo_backend_operand *in, mo_error *err);
mo_status mo_backend_check_scatter(const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out, mo_error *err);

#endif
