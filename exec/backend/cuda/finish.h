/*
 * finish.h - how kernels end that know where in memory their results go.
 *
 * code.h's epilogues take one element and its indices; these take several
 * neighbours as the result lies, and load and store them 16 bytes at a time
 * where that can be done.
 */
#ifndef MO_EXEC_BACKEND_CUDA_FINISH_H
#define MO_EXEC_BACKEND_CUDA_FINISH_H

#include "exec/backend/cuda/code.h"

/* How many neighbours of a row of count elements can be finished at once: as
 * many as 16 bytes hold, or less. */
int mo_cuda_finish_width(const mo_call *call, const mo_desc *out,
                         int64_t count);

/*
 * T: the type of elements in memory; R: of those in registers (float, double
 * or long long); PLACE: what counts elements of either operand; and
 *
 *     MO_DEVICE R load(T x)
 *     typedef union { ...; T x[WIDTH]; } WIDE
 *     MO_DEVICE WIDE read_wide(const T *from)  16 bytes at a time
 *     MATH(exp)(x), SHUFFLE_XOR(x, mask)       of reals
 */
void mo_code_types(mo_code *code, mo_elem elem, int width, int64_t elements);

/*
 * The end of a call, behind mo_code_types for its out[0]:
 *
 *     MO_DEVICE void finish(PLACE to, const R *u, struct mo_extra p, T *out)
 *
 * finishes WIDTH elements from out[to] on, as they lie; to is a multiple of
 * WIDTH.  finish1 does one of them, anywhere.  The last argument of a kernel is
 * the struct mo_extra of mo_code_extra_of.
 */
void mo_code_finish(mo_code *code, const mo_call *call, const mo_desc *out,
                    int width);

#endif
