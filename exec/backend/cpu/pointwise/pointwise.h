/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointwise.h - pointwise programs on the CPU: alone, or as the epilogue of
 * another kernel.
 *
 * A program is compiled once: its dimensions are brought into the memory order
 * of the result and merged where all operands allow it. It runs over ranges of
 * the result in memory order, block by block, so that intermediate registers
 * stay in the L1 cache. Ranges are independent: any thread may run any of
 * them, with its own scratch.
 */
#ifndef MO_EXEC_BACKEND_CPU_POINTWISE_POINTWISE_H
#define MO_EXEC_BACKEND_CPU_POINTWISE_POINTWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/op/call.h"

typedef struct mo_cpu_point_program mo_cpu_point_program;

/* Compiles a program for a result like out; point is not needed afterwards.
 * The caller frees *program. */
mo_status mo_cpu_point_program_new(const mo_point_program *point,
                                   const mo_tensor_desc *out,
                                   mo_cpu_point_program **program,
                                   mo_error *err);
void mo_cpu_point_program_free(mo_cpu_point_program *program);

/* Returns the scratch size in bytes for each thread, a multiple of 64. */
size_t mo_cpu_point_program_scratch_size(const mo_cpu_point_program *program);

/* Computes elements first, ..., first + count - 1 of the result, in memory
 * order. Operands and out are whole tensors. out may be an operand with the
 * same layout. */
void mo_cpu_point_program_run(const mo_cpu_point_program *program,
                              const void *const *operands, void *out,
                              int64_t first, int64_t count, void *scratch);

/*
 * End of a kernel: its epilogue (call->after) and the store in the type of
 * out[0], which must be real.
 *
 *     prepare:  mo_cpu_epilogue_init(call, &out[0], &kernel->epilogue, err)
 *               and mo_cpu_epilogue_scratch_size() bytes for each worker
 *     run:      mo_cpu_epilogue_run(&kernel->epilogue, in, out[0], first,
 * count, sums, scratch) free:     mo_cpu_epilogue_clear(&kernel->epilogue)
 */
typedef struct mo_cpu_epilogue {
    mo_cpu_point_program *program; /* NULL: store only */
    mo_elem elem;                  /* of out[0] */
    int first_extra;
} mo_cpu_epilogue;

/* *epilogue begins as zeros; mo_cpu_epilogue_clear() frees it. */
mo_status mo_cpu_epilogue_init(const mo_call *call, const mo_tensor_desc *out,
                               mo_cpu_epilogue *epilogue, mo_error *err);
void mo_cpu_epilogue_clear(mo_cpu_epilogue *epilogue);
size_t mo_cpu_epilogue_scratch_size(const mo_cpu_epilogue *epilogue);

/* sums are the kernel's results for elements first, ..., first + count - 1 of
 * out[0], in memory order: floats, or doubles if out[0] is f64. They may be in
 * the place of out[0], where they become the result, or in any other buffer.
 * in has all inputs of the call. */
void mo_cpu_epilogue_run(const mo_cpu_epilogue *epilogue, const void *const *in,
                         void *out, int64_t first, int64_t count,
                         const void *sums, void *scratch);

/* The same with element first stored at `to`, and the others behind it. */
void mo_cpu_epilogue_run_to(const mo_cpu_epilogue *epilogue,
                            const void *const *in, void *to, int64_t first,
                            int64_t count, const void *sums, void *scratch);

/* Whether storing to out[0] is a no-op for sums that are there already. */
static inline bool mo_cpu_epilogue_is_identity(const mo_cpu_epilogue *epilogue)
{
    return !epilogue->program &&
           (epilogue->elem == MO_ELEM_F32 || epilogue->elem == MO_ELEM_F64);
}

#endif
