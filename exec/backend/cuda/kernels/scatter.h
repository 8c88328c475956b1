/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter.h - scatters on their way to kernels (inside of exec/backend/cuda).
 *
 * Whatever an index means, the data is [outer][axis][inner], the updates are
 * [outer][n_keys][inner], and key c says along the axis where updates c go.
 * Every element of the result belongs to one thread, which merges what goes
 * there in the order of the keys: the last one wins, sums are the same in every
 * run.
 *
 * Few keys are kept in shared memory and looked through for every element.
 * Many are sorted by where they go and then by their number; only where a run
 * of equal places begins is something done.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_SCATTER_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_SCATTER_H

#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/call.h"

enum {
    MO_CUDA_SCATTER_MAX_SCAN_KEYS = 256,
    MO_CUDA_SCATTER_BLOCK_KEYS = 1024, /* keys that a block sorts by itself */
    MO_CUDA_SCATTER_THREADS = 512      /* with two keys each */
};

typedef struct mo_cuda_scatter_problem {
    const mo_call_scatter *call;
    mo_elem elem, index_elem;
    int64_t outer, axis, inner, n_keys;
    int64_t steps[MO_MAX_RANK]; /* ND: places that a step along each of dims
                                   passes; ELEMENTS: strides of the data */
} mo_cuda_scatter_problem;

/* The kernel "scatter" of (data, indices, updates, out, wrong). */
void mo_cuda_emit_scatter_scan(const mo_cuda_scatter_problem *s,
                               mo_cuda_source *code);

/*
 * Many keys: "scatter_keys" of (indices, keys, wrong) makes keys and sorts them
 * block by block; then for each k from 2 * MO_CUDA_SCATTER_BLOCK_KEYS, twice as
 * many each time, "scatter_step" of (keys, k, j) with j from k / 2 down to
 * MO_CUDA_SCATTER_BLOCK_KEYS and "scatter_merge" of (keys, k); at last
 * "scatter_apply" of (keys, updates, out), where out holds the data.  Keys are
 * a power of two of 64 bits, at least MO_CUDA_SCATTER_BLOCK_KEYS.
 */
void mo_cuda_emit_scatter_keys(const mo_cuda_scatter_problem *s,
                               mo_cuda_source *code);
void mo_cuda_emit_scatter_bitonic_step(mo_cuda_source *code);
void mo_cuda_emit_scatter_bitonic_merge(mo_cuda_source *code);
void mo_cuda_emit_scatter_apply(const mo_cuda_scatter_problem *s,
                                mo_cuda_source *code);

#endif
