/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codegen.h - generators of device code: a growing text, element types,
 * literals, strided addresses, vectors, windows and grid-stride loops.
 *
 * The functions mo_cuda_emit_*() append CUDA C to a mo_cuda_source.  None of
 * them fails by itself: a failed allocation is kept in the source and returned
 * by mo_cuda_source_check() or mo_cuda_jit_request_source().
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/op/call.h"
#include "exec/op/point_program.h"
#include "exec/tensor/dense_tensor.h"

/* A growing text, empty when all zero; freed by mo_cuda_source_clear(). */
typedef struct mo_cuda_source {
    char *text; /* NULL: nothing was appended */
    size_t size, room;
    bool failed; /* an allocation failed; later calls do nothing */
} mo_cuda_source;

void mo_cuda_source_printf(mo_cuda_source *code, const char *format, ...)
    MO_PRINTF(2, 3);
/* Appends the text as it is: % has no meaning. */
void mo_cuda_source_append(mo_cuda_source *code, const char *text);
/* Returns MO_E_MEMORY if an allocation failed or nothing was appended. */
mo_status mo_cuda_source_check(const mo_cuda_source *code, mo_error *err);
void mo_cuda_source_clear(mo_cuda_source *code);

/* mo_cuda_jit_request() of a generated source.  Clears code, also on failure.
 */
mo_status mo_cuda_jit_request_source(mo_backend_unit *unit,
                                     mo_cuda_source *code, const char *name,
                                     mo_cuda_function **function,
                                     mo_error *err);

/* Types and literals */

/* Returns the type of an element in memory: "float", "mo_f16" (2 bytes, see
 * prelude.c), "long long", "unsigned char", ...  A constant string. */
const char *mo_cuda_elem_type_name(mo_elem elem);

/* Returns what makes a float of an element up to 32 bits: the name of a
 * function, or a cast. A constant string. */
const char *mo_cuda_elem_to_float(mo_elem elem);

/* Returns a type of 1, 2, 4, 8 or 16 bytes, for copies.  A constant string. */
const char *mo_cuda_bytes_type_name(int64_t bytes);

/* A literal of float, or of double where wide; infinities and NaN too. */
void mo_cuda_emit_real(mo_cuda_source *code, double x, bool wide);

/* Addresses */

/* Returns whether an offset within extent may exceed 2^31 - 1. */
bool mo_cuda_needs_64bit_offsets(const mo_point_access *access,
                                 const int64_t *extent, int rank);

/* "i * 12 + j * 3 + 5" of the indices named, in 64 bits where wide; terms with
 * stride 0 are left out. */
void mo_cuda_emit_access(mo_cuda_source *code, const mo_point_access *access,
                         int rank, const char *const *indices, bool wide);

/* Statements that decompose the linear index at into i0, i1, ... (declared
 * here, of long long, or int where all fits). */
void mo_cuda_emit_indices(mo_cuda_source *code, const char *at,
                          const int64_t *extent, int rank);

/* MO_DEVICE PLACE name(PLACE at): the offset of linear index at over n
 * dimensions of those extents, the last one fastest, by their strides. */
void mo_cuda_emit_offset_function(mo_cuda_source *code, const char *name,
                                  const int64_t *extent, const int64_t *stride,
                                  int n);

/* Vectors */

/* Bytes of a vector access. */
enum { MO_CUDA_VECTOR_BYTES = 16 };

/*
 * T: the type of elements in memory; R: of those in registers (float, double
 * or long long); PLACE: an index type that holds elements; and
 *
 *     MO_DEVICE R load(T x)
 *     typedef union { ...; T x[WIDTH]; } WIDE
 *     MO_DEVICE WIDE read_wide(const T *from)  16 bytes at a time
 *     MATH(exp)(x), SHUFFLE_XOR(x, mask)       of reals
 */
void mo_cuda_emit_types(mo_cuda_source *code, mo_elem elem, int width,
                        int64_t elements);

/* A union type called name with width elements x. */
void mo_cuda_emit_vector_type(mo_cuda_source *code, mo_elem elem, int width,
                              const char *name);

/* Statements that load the vector variable w from place, or store it there. */
void mo_cuda_emit_vector_move(mo_cuda_source *code, mo_elem elem, int width,
                              const char *w, const char *place, bool stores);

/* Windows and loops */

/* I0, O0, K0, S0, D0, P0: input and output size, kernel size, stride, dilation
 * and padding of the three spatial dimensions; I, O, TAPS: their products. */
void mo_cuda_emit_window(mo_cuda_source *code, const mo_call_window *sweep);

/* Returns the largest index value of a sweep, padding included, and at least
 * elements; INT64_MAX where it exceeds int. */
int64_t mo_cuda_window_max_index(const mo_call_window *sweep, int64_t elements);

enum { MO_CUDA_GRID_STRIDE_THREADS = 128 };

/* Opens a grid-stride loop in which t, unsigned, runs over count; the caller
 * emits the closing brace. */
void mo_cuda_emit_grid_stride_loop(mo_cuda_source *code, int64_t count);

/* Returns a grid with enough blocks to fill the device, no more than count
 * needs. */
mo_cuda_grid mo_cuda_grid_stride_grid(const mo_backend_unit *unit,
                                      int64_t count);

/* Pointwise programs (codegen_pointwise.c) */

/*
 * The program's steps as statements, for one element.  operands[i] is an
 * expression for operand i as it lies in memory (an lvalue of its type, "p1[at
 * * 4]", loaded once); a NULL one is a real that is in the variable "v"
 * already (the input of an epilogue, not rounded to its type yet).  Declares
 * r0, r1, ... inside the braces that the caller opened; afterwards the result,
 * converted to the type it is stored in, is the expression written to result.
 */
enum { MO_CUDA_EXPR_SIZE = 64 };
void mo_cuda_emit_point_steps(mo_cuda_source *code,
                              const mo_point_program *point, mo_elem stored,
                              const char *const *operands,
                              char result[MO_CUDA_EXPR_SIZE]);

/* Writes to result the expression of value converted to the type stored. */
void mo_cuda_stored_expr(mo_elem stored, const char *value,
                         char result[MO_CUDA_EXPR_SIZE]);

/* struct mo_extra, the last argument of kernels: the operands of the epilogue,
 * in[first_extra ...]. */
typedef struct mo_cuda_epilogue_inputs {
    const void *pointers[MO_POINT_MAX_OPERANDS];
} mo_cuda_epilogue_inputs;
mo_cuda_epilogue_inputs mo_cuda_epilogue_inputs_of(const mo_call *call,
                                                   const void *const *in);

#endif
