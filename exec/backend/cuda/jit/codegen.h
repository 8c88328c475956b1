/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - sources of kernels, put together.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "exec/op/point_program.h"

/* A growing text; a failed allocation is remembered until asked. */
typedef struct mo_cuda_source {
    char *text;
    size_t size, room;
    bool failed;
} mo_cuda_source;

void mo_cuda_source_printf(mo_cuda_source *code, const char *format, ...)
    MO_PRINTF(2, 3);
void mo_cuda_source_append(mo_cuda_source *code,
                           const char *text); /* % is nothing special */
mo_status mo_cuda_source_check(const mo_cuda_source *code, mo_error *err);
void mo_cuda_source_clear(mo_cuda_source *code);

/* The type of an element in memory: "float", "mo_f16" (2 bytes, see prelude),
 * "long long", "unsigned char", ... */
const char *mo_cuda_elem_type_name(mo_elem elem);

/* One of 1, 2, 4, 8 or 16 bytes, for what is only moved. */
const char *mo_cuda_bytes_type_name(int64_t bytes);

/* A number as a literal of float, or of double where wide; infinities and NaN
 * too. */
void mo_cuda_emit_real(mo_cuda_source *code, double x, bool wide);

/* May an offset within extent pass 2^31? */
bool mo_cuda_needs_64bit_offsets(const mo_point_access *access,
                                 const int64_t *extent, int rank);

/* "i * 12 + j * 3 + 5" of the indices named, in 64 bits where an offset may
 * pass 2^31 (wide), with absent terms left out. */
void mo_cuda_emit_access(mo_cuda_source *code, const mo_point_access *access,
                         int rank, const char *const *indices, bool wide);

/*
 * The program's steps as statements, for one element.  operands[i] is an
 * expression for operand i as it lies in memory (an lvalue of its type, "p1[at
 * * 4]", loaded once); a NULL one is a real that is in the variable "v"
 * already (what an epilogue is given, not rounded to its type yet).  Declares
 * r0, r1, ... inside the braces that the caller opened; afterwards the result,
 * converted to the type it is stored in, is the expression written to result.
 */
enum { MO_CUDA_EXPR_SIZE = 64 };
void mo_cuda_emit_point_steps(mo_cuda_source *code,
                              const mo_point_program *point, mo_elem stored,
                              const char *const *operands,
                              char result[MO_CUDA_EXPR_SIZE]);

/* A register as it is stored in a tensor of that type: an expression. */
void mo_cuda_stored_expr(mo_elem stored, const char *value,
                         char result[MO_CUDA_EXPR_SIZE]);

/* What an epilogue reads besides what is computed, in[first_extra ...]: struct
 * mo_extra, the last argument of kernels. */
typedef struct mo_cuda_epilogue_inputs {
    const void *pointers[MO_POINT_MAX_OPERANDS];
} mo_cuda_epilogue_inputs;
mo_cuda_epilogue_inputs mo_cuda_epilogue_inputs_of(const mo_call *call,
                                                   const void *const *in);

/* Statements that take "at", a long long that counts over shape, apart into i0,
 * i1, ... (declared here, of long long, or int where all fits). */
void mo_cuda_emit_indices(mo_cuda_source *code, const char *at,
                          const int64_t *extent, int rank);

#endif
