/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.h - types of a kernel's elements, and several of them moved as one.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_VECTOR_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"

/* What a thread moves at once. */
enum { MO_CUDA_VECTOR_BYTES = 16 };

/*
 * T: the type of elements in memory; R: of those in registers (float, double
 * or long long); PLACE: what counts up to elements; and
 *
 *     MO_DEVICE R load(T x)
 *     typedef union { ...; T x[WIDTH]; } WIDE
 *     MO_DEVICE WIDE read_wide(const T *from)  16 bytes at a time
 *     MATH(exp)(x), SHUFFLE_XOR(x, mask)       of reals
 */
void mo_cuda_emit_types(mo_cuda_source *code, mo_elem elem, int width,
                        int64_t elements);

/* A type called name of width elements x. */
void mo_cuda_emit_vector_type(mo_cuda_source *code, mo_elem elem, int width,
                              const char *name);

/* Statements that move one, called w, from or to the elements at place. */
void mo_cuda_emit_vector_move(mo_cuda_source *code, mo_elem elem, int width,
                              const char *w, const char *place, bool stores);

#endif
