/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_epilogue.h - epilogues fused into the micro-kernels.
 *
 * A bias per column, bounds such as those of ReLU, or both in this order,
 * computed in registers without another pass over the result. Results are
 * bitwise the same.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_GEMM_EPILOGUE_H
#define MO_EXEC_BACKEND_CPU_GEMM_GEMM_EPILOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"

typedef struct mo_cpu_gemm_epilogue {
    bool by_micro_kernels; /* the micro-kernel does the whole epilogue */
    int bias;              /* its index in the call's in[], or -1 */
    mo_cpu_micro_kernel_epilogue end; /* without the bias */
} mo_cpu_gemm_epilogue;

/* Matches the epilogue of a kernel that computes rows of floats in place. */
mo_cpu_gemm_epilogue mo_cpu_gemm_epilogue_match(const mo_cpu_epilogue *epilogue,
                                                int64_t columns);

/* Returns the micro-kernel's form; in has all inputs of the call. */
mo_cpu_micro_kernel_epilogue
mo_cpu_gemm_epilogue_bind(const mo_cpu_gemm_epilogue *gemm_epilogue,
                          const void *const *in);

#endif
