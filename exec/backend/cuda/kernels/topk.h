/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.h - what the two ways to find the best of a line share.
 *
 * Elements are compared by integers in the same order, whatever their type, and
 * equal ones by their index: hence no two entries are equal, and every way to
 * sort them gives the same.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_TOPK_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_TOPK_H

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/* Entries a block sorts in shared memory, at most; their threads. */
enum {
    MO_CUDA_TOPK_CHUNK = 2048,
    MO_CUDA_TOPK_THREADS = 512,
    MO_CUDA_TOPK_ENTRY_BYTES = 16
};

/*
 * Types and numbers of the call, and functions:
 *
 *     int better(ENTRY a, ENTRY b)
 *     ENTRY entry_of(T x, long long index)
 *     void sort(ENTRY *e)      CHUNK of them, shared, by all BLOCK threads
 *     FROM(line), TO(line)     where a line begins, in and out
 *     void put(in, values, indices, line, i, index)
 *                              the i-th best of a line is number index of it
 */
void mo_cuda_emit_topk(mo_cuda_source *code, const mo_call_topk *topk,
                       const mo_tensor_desc *out, int64_t elements, int chunk);

/* Lines that are too long for one block: in passes. */
extern const mo_cuda_kernel_class mo_cuda_topk_multipass_kernel;

#endif
