/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point.h - pointwise programs on the CPU: alone, or where another kernel ends.
 *
 * A program is prepared once: its dimensions are put into the order in which
 * the result lies and merged where all operands allow it.  It runs over ranges
 * of the result as it lies in memory, block by block, so that what passes from
 * step to step stays in the nearest cache.  Ranges are independent: any thread
 * may do any of them, with scratch of its own.
 */
#ifndef MO_EXEC_BACKEND_CPU_POINTWISE_POINTWISE_H
#define MO_EXEC_BACKEND_CPU_POINTWISE_POINTWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/op/call.h"

typedef struct mo_cpu_point_program mo_cpu_point_program;

/* What makes a result like out; point is not needed afterwards. */
mo_status mo_cpu_point_program_new(const mo_point_program *point,
                                   const mo_tensor_desc *out,
                                   mo_cpu_point_program **program,
                                   mo_error *err);
void mo_cpu_point_program_free(mo_cpu_point_program *program);

/* Bytes of scratch for each thread that runs it, aligned to 64. */
size_t mo_cpu_point_program_scratch_size(const mo_cpu_point_program *program);

/* Elements first, ..., first + count - 1 of the result, in the order of memory.
 * Operands and out are whole tensors.  Out may be an operand that lies as it
 * does. */
void mo_cpu_point_program_run(const mo_cpu_point_program *program,
                              const void *const *operands, void *out,
                              int64_t first, int64_t count, void *scratch);

/*
 * How a kernel ends: its epilogue (call->after) and storing in the type of
 * out[0], which must be a real one.
 *
 *     prepare:  mo_cpu_epilogue_init(call, &out[0], &kernel->finish, err)
 *               and mo_cpu_epilogue_scratch_size() bytes for each worker
 *     run:      mo_cpu_epilogue_run(&kernel->finish, in, out[0], first, count,
 *                             sums, scratch)
 *     drop:     mo_cpu_epilogue_clear(&kernel->finish)
 */
typedef struct mo_cpu_epilogue {
    mo_cpu_point_program *program; /* NULL: nothing but storing */
    mo_elem elem;                  /* of out[0] */
    int first_extra;
} mo_cpu_epilogue;

/* finish begins as zeros. */
mo_status mo_cpu_epilogue_init(const mo_call *call, const mo_tensor_desc *out,
                               mo_cpu_epilogue *finish, mo_error *err);
void mo_cpu_epilogue_clear(mo_cpu_epilogue *finish);
size_t mo_cpu_epilogue_scratch_size(const mo_cpu_epilogue *finish);

/* Sums are what the kernel has computed for elements first, ..., first + count
 * - 1 of out[0], in the order of memory: floats, or doubles when out[0] is f64.
 * They may lie in the very place of out[0], where they then become the result,
 * or anywhere else.  in is all the call's. */
void mo_cpu_epilogue_run(const mo_cpu_epilogue *finish, const void *const *in,
                         void *out, int64_t first, int64_t count,
                         const void *sums, void *scratch);

/* The same where element first goes to `to`, and the others behind it. */
void mo_cpu_epilogue_run_to(const mo_cpu_epilogue *finish,
                            const void *const *in, void *to, int64_t first,
                            int64_t count, const void *sums, void *scratch);

/* Does storing to out[0] do nothing when the sums lie there already? */
static inline bool mo_cpu_epilogue_is_identity(const mo_cpu_epilogue *finish)
{
    return !finish->program &&
           (finish->elem == MO_ELEM_F32 || finish->elem == MO_ELEM_F64);
}

#endif
