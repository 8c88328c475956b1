/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_source.h - generates the kernels of a scatter (scatter.c), which are
 * appended to the source.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_SCATTER_SOURCE_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_SCATTER_SOURCE_H

#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/call.h"

enum {
    MO_CUDA_SCATTER_MAX_SCAN_KEYS = 256,
    MO_CUDA_SCATTER_BLOCK_KEYS =
        1024, /* keys that one block sorts in shared memory */
    MO_CUDA_SCATTER_SORT_THREADS = 512 /* two keys each */
};

typedef struct mo_cuda_scatter_problem {
    const mo_call_scatter *call;
    mo_elem elem, index_elem;
    int64_t outer, axis, inner, n_keys;
    int64_t steps[MO_MAX_RANK]; /* ND: places per step along each of dims;
                                   ELEMENTS: strides of the data */
} mo_cuda_scatter_problem;

/* "scatter": few keys, which every element scans. */
void mo_cuda_scatter_emit_scan(const mo_cuda_scatter_problem *s,
                               mo_cuda_source *code);

/* "scatter_keys", "scatter_step" and "scatter_merge" sort many keys, whose runs
 * "scatter_apply" applies. */
void mo_cuda_scatter_emit_keys(const mo_cuda_scatter_problem *s,
                               mo_cuda_source *code);
void mo_cuda_scatter_emit_step(mo_cuda_source *code);
void mo_cuda_scatter_emit_merge(mo_cuda_source *code);
void mo_cuda_scatter_emit_apply(const mo_cuda_scatter_problem *s,
                                mo_cuda_source *code);

#endif
