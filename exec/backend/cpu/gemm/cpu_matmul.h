/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.h - what the ways to do a matrix product share.
 *
 * A product is put into one form first: dimensions of 1 are dropped, batches
 * that are only more rows become rows, and the result lies row by row if it can
 * be made to.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_CPU_MATMUL_H
#define MO_EXEC_BACKEND_CPU_GEMM_CPU_MATMUL_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/gemm/packed_gemm.h"

typedef struct mo_cpu_matmul_canonical {
    mo_call_matmul call; /* only extents above 1 among the batches */
    int64_t batches;     /* product of the extents */
    int a, b;            /* which of the call's in they are */
} mo_cpu_matmul_canonical;

mo_cpu_matmul_canonical mo_cpu_matmul_canonicalize(const mo_call_matmul *call);

/* Where the matrices of one batch begin. */
typedef struct mo_cpu_matmul_offsets {
    int64_t a, b, c;
} mo_cpu_matmul_offsets;

mo_cpu_matmul_offsets mo_cpu_matmul_batch_offsets(const mo_call_matmul *call,
                                                  int64_t batch);

typedef struct mo_cpu_matmul_kernel mo_cpu_matmul_kernel;

/* The ways: each makes blocks and scratch, and does a whole call. */
typedef struct mo_cpu_matmul_algo {
    mo_status (*prepare)(mo_backend_unit *unit, const mo_backend_operand *in,
                         mo_cpu_matmul_kernel *kernel, size_t *scratch,
                         mo_error *err);
    void (*run)(mo_backend_unit *unit, const mo_cpu_matmul_kernel *kernel,
                const void *const *in, void *out, void *workspace);
} mo_cpu_matmul_algo;

struct mo_cpu_matmul_kernel {
    mo_backend_kernel base;
    const mo_cpu_matmul_algo *way;
    mo_cpu_matmul_canonical form;
    mo_elem elem;     /* of all three */
    int64_t elements; /* of the result */
    mo_cpu_gemm_blocking blocks;
    mo_cpu_epilogue finish;
    mo_cpu_point_program
        *after; /* the epilogue of a type that mo_cpu_epilogue does not store */
    int first_extra, n_operands; /* of it */
    bool blas;
    size_t scratch; /* of each worker, in bytes */

    /* of floats */
    float *panels; /* of a constant b, or NULL */
    int64_t panel_batch[MO_CALL_MATMUL_MAX_BATCH]; /* strides, in matrices */
    int64_t matrix_panels; /* floats of a matrix's panels */
    bool pack_a, pack_c;   /* not to be read, or written, where they lie */
    size_t a_at, b_at, c_at, finish_at; /* in each worker's scratch, behind the
                                           pointers to rows */
};

extern const mo_cpu_matmul_algo mo_cpu_matmul_algo_packed; /* f32, f16, bf16 */
extern const mo_cpu_matmul_algo
    mo_cpu_matmul_algo_fallback; /* by BLAS; f64; integers */

#endif
