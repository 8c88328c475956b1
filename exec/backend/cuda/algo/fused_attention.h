/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_attention.h - fused attention: softmax(scale q k' + bias, masked) v in
 * one kernel with an online softmax (Milakov and Gimelshein 2018;
 * FlashAttention, Dao et al. 2022), and its tiling.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_FUSED_ATTENTION_H
#define MO_EXEC_BACKEND_CUDA_ALGO_FUSED_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/jit_cache.h"

/* Wider rows of q, k or v do not fit into registers. */
enum { MO_CUDA_ATTENTION_MAX_HEAD_DIM = 128 };

/* The tiling of attention_tensorcore.cu. */
typedef struct mo_cuda_attention_tiling {
    int across, along; /* warps of a block, by queries and by keys */
    int deep;          /* groups of 16 queries per warp */
    int span;          /* groups of 8 keys per iteration */
    int cluster;       /* blocks that share the keys, 1 to 8 */
} mo_cuda_attention_tiling;

/* A call with what its kernels need of it. */
typedef struct mo_cuda_attention_problem {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    int64_t batches;
    bool tensor;   /* tensor cores; else the kernel by rows */
    bool exact;    /* products in full f32 precision */
    bool clusters; /* the device has thread block clusters */
} mo_cuda_attention_problem;

/* Operands of scores and masks. */
enum { MO_CUDA_ATTENTION_MAX_SCORE_INPUTS = MO_POINT_MAX_OPERANDS };

typedef struct mo_cuda_attention_score_inputs {
    const void *pointers[MO_CUDA_ATTENTION_MAX_SCORE_INPUTS];
} mo_cuda_attention_score_inputs;

/* Appends the kernel "attention" to code and sets the grid of its launch;
 * tiling is unused by rows. */
mo_status mo_cuda_emit_attention(const mo_cuda_attention_problem *problem,
                                 const mo_cuda_attention_tiling *tiling,
                                 mo_cuda_source *code, mo_cuda_grid *grid,
                                 mo_error *err);

enum { MO_CUDA_ATTENTION_MAX_TILINGS = 5 };

/* Fills tilings with the candidates of the autotuner on a unit of sms SMs, the
 * untuned default first; returns their number. */
int mo_cuda_attention_find_tilings(
    const mo_cuda_attention_problem *problem, int sms,
    mo_cuda_attention_tiling tilings[MO_CUDA_ATTENTION_MAX_TILINGS]);

#endif
