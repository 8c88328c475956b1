/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.h - how kernels end: the epilogue of a call as functions of the
 * device, which take several neighbours as the result lies, and load and store
 * them 16 bytes at a time where that can be done.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_EPILOGUE_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_EPILOGUE_H

#include "exec/backend/backend.h"
#include "exec/backend/cuda/jit/codegen.h"

/* How many neighbours of a row of count elements can be finished at once: as
 * many as 16 bytes hold, or less. */
int mo_cuda_epilogue_vector_width(const mo_call *call,
                                  const mo_tensor_desc *out, int64_t count);

/*
 * The end of a call, behind mo_cuda_emit_types for its out[0]:
 *
 *     MO_DEVICE void finish(PLACE to, const R *u, struct mo_extra p, T *out)
 *
 * finishes WIDTH elements from out[to] on, as they lie; to is a multiple of
 * WIDTH.  finish1 does one of them, anywhere.  The last argument of a kernel is
 * the struct mo_extra of mo_cuda_epilogue_inputs_of.
 */
void mo_cuda_emit_epilogue(mo_cuda_source *code, const mo_call *call,
                           const mo_tensor_desc *out, int width);

/*
 * The same for kernels that have to wait anyway, and meanwhile read what the
 * epilogue needs:
 *
 *     FINISH_READ r;
 *     finish_expect(to, p, &r);   what is constant, even before MO_BEGIN
 *     finish_read(to, p, &r);     the rest
 *     finish_with(to, u, &r, p, out);
 *
 * in are the call's operands, which tell what is constant.
 */
void mo_cuda_emit_epilogue_prefetch(mo_cuda_source *code, const mo_call *call,
                                    const mo_backend_operand *in,
                                    const mo_tensor_desc *out, int width);

#endif
