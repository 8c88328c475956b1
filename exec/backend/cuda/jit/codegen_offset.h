/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - functions of the device that say where an element is.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_OFFSET_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_OFFSET_H

#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"

/* MO_DEVICE PLACE name(PLACE at): at counts over n dimensions of those extents,
 * the last one fastest; their strides are summed up. */
void mo_cuda_emit_offset_function(mo_cuda_source *code, const char *name,
                                  const int64_t *extent, const int64_t *stride,
                                  int n);

#endif
