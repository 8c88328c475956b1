/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending.h - epilogues that are short enough for tiles to do them.
 *
 * A bias for each column, bounds such as those of a ReLU, or the one and then
 * the other: done in registers, the result need not be gone over once more.
 * What comes out is the same to the last bit.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_GEMM_EPILOGUE_H
#define MO_EXEC_BACKEND_CPU_GEMM_GEMM_EPILOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"

typedef struct mo_cpu_gemm_epilogue {
    bool by_tiles; /* this is all there is to do */
    int bias;      /* which of the call's in[] it is, or -1 */
    mo_cpu_micro_kernel_epilogue end; /* but for the bias */
} mo_cpu_gemm_epilogue;

/* Of a kernel that makes floats, rows of so many columns, where they go. */
mo_cpu_gemm_epilogue mo_cpu_gemm_epilogue_match(const mo_cpu_epilogue *finish,
                                                int64_t columns);

/* As tiles want it; in is all the call's. */
mo_cpu_micro_kernel_epilogue
mo_cpu_gemm_epilogue_bind(const mo_cpu_gemm_epilogue *ending,
                          const void *const *in);

#endif
