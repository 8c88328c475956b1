/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_matmul.h - matrix product kernels: canonical form of a product, and the
 * interface of the algorithms that compute it.
 *
 * A product is brought into a canonical form first: dimensions of extent 1 are
 * dropped, batches that only add rows become rows, and the result is row-major
 * if possible.
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
    int a, b;            /* their indices among the call's inputs */
} mo_cpu_matmul_canonical;

mo_cpu_matmul_canonical mo_cpu_matmul_canonicalize(const mo_call_matmul *call);

/* Offsets of the matrices of one batch. */
typedef struct mo_cpu_matmul_offsets {
    int64_t a, b, c;
} mo_cpu_matmul_offsets;

mo_cpu_matmul_offsets mo_cpu_matmul_batch_offsets(const mo_call_matmul *call,
                                                  int64_t batch);

typedef struct mo_cpu_matmul_kernel mo_cpu_matmul_kernel;

/* An algorithm: computes blocking and scratch, and runs a whole call. */
typedef struct mo_cpu_matmul_algo {
    mo_status (*prepare)(mo_cpu_unit *unit, const mo_backend_operand *in,
                         mo_cpu_matmul_kernel *kernel, size_t *scratch,
                         mo_error *err);
    void (*run)(mo_cpu_unit *unit, const mo_cpu_matmul_kernel *kernel,
                const void *const *in, void *out, void *workspace);
} mo_cpu_matmul_algo;

struct mo_cpu_matmul_kernel {
    mo_cpu_kernel base;
    const mo_cpu_matmul_algo *algo;
    mo_cpu_matmul_canonical form;
    mo_elem elem;     /* of all three */
    int64_t elements; /* of the result */
    mo_cpu_gemm_blocking blocks;
    mo_cpu_epilogue epilogue;
    mo_cpu_point_program
        *after; /* the epilogue of a type that mo_cpu_epilogue does not store */
    int first_extra, n_operands; /* of the epilogue */
    bool blas;
    size_t scratch; /* per worker, in bytes */

    /* of floats */
    float *panels; /* of a constant b, or NULL */
    mo_cpu_shared_panels *shared; /* with other kernels, or NULL */
    int64_t panel_batch[MO_CALL_MATMUL_MAX_BATCH]; /* strides, in matrices */
    int64_t matrix_panels; /* floats of a matrix's panels */
    bool pack_a, pack_c;   /* not read, or written, in place */
    size_t a_at, b_at, c_at,
        epilogue_at; /* in each worker's scratch, after the row pointers */
};

extern const mo_cpu_matmul_algo mo_cpu_matmul_algo_packed; /* f32, f16, bf16 */
extern const mo_cpu_matmul_algo
    mo_cpu_matmul_algo_plain; /* BLAS or loops: f64, integers, some f32 */

#endif
