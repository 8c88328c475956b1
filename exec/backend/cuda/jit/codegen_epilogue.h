/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codegen_epilogue.h - generator of epilogues: the pointwise program after a
 * call as device functions over vectors of neighbouring results, with loads
 * and stores of 16 bytes where possible.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_EPILOGUE_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_EPILOGUE_H

#include "exec/backend/backend.h"
#include "exec/backend/cuda/jit/codegen.h"

/* Returns how many neighbours of a row of count elements can be finished at
 * once: as many as 16 bytes hold, or fewer. */
int mo_cuda_epilogue_vector_width(const mo_call *call,
                                  const mo_tensor_desc *out, int64_t count);

/*
 * Emits the epilogue of a call, after mo_cuda_emit_types for its out[0]:
 *
 *     MO_DEVICE void finish(PLACE to, const R *u, struct mo_extra p, T *out)
 *
 * applies it to WIDTH elements and stores them from out[to] on, in memory
 * order; to is a multiple of WIDTH. finish1 does one of them, anywhere. The
 * last argument of a kernel is the struct mo_extra of
 * mo_cuda_epilogue_inputs_of.
 */
void mo_cuda_emit_epilogue(mo_cuda_source *code, const mo_call *call,
                           const mo_tensor_desc *out, int width);

/*
 * The same with early loads, for kernels that wait anyway:
 *
 *     FINISH_READ r;
 *     finish_load_constants(to, p, &r);   may be before MO_BEGIN
 *     finish_read(to, p, &r);             loads the other operands
 *     finish_with(to, u, &r, p, out);
 *
 * in are the call's operands, of which some are constant.
 */
void mo_cuda_emit_epilogue_prefetch(mo_cuda_source *code, const mo_call *call,
                                    const mo_backend_operand *in,
                                    const mo_tensor_desc *out, int width);

#endif
