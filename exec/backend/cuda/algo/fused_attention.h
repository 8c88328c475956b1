/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.h - kernels of attention, as they are cut up.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_FUSED_ATTENTION_H
#define MO_EXEC_BACKEND_CUDA_ALGO_FUSED_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/jit_cache.h"

/* Wider rows of q, k or v do not fit the registers. */
enum { MO_CUDA_ATTENTION_MAX_HEAD_DIM = 128 };

/* How the work is cut: see attention_tensor.inc. */
typedef struct mo_cuda_attention_tiling {
    int across, along; /* warps of a block, by queries and by keys */
    int deep;          /* 16 queries so many times */
    int span;          /* 8 keys so many times in a turn */
} mo_cuda_attention_tiling;

/* What is to be done. */
typedef struct mo_cuda_attention_problem {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    int64_t batches;
    bool tensor; /* on tensor cores; else by rows */
    bool exact;  /* products as good as those of floats */
} mo_cuda_attention_problem;

/* The pointers behind what the score and the mask read. */
enum { MO_CUDA_ATTENTION_MAX_SCORE_INPUTS = MO_POINT_MAX_OPERANDS };

typedef struct mo_cuda_attention_score_inputs {
    const void *pointers[MO_CUDA_ATTENTION_MAX_SCORE_INPUTS];
} mo_cuda_attention_score_inputs;

/* The source of the function "attention", and how it is launched; cut means
 * nothing by rows. */
mo_status mo_cuda_emit_attention(const mo_cuda_attention_problem *problem,
                                 const mo_cuda_attention_tiling *tiling,
                                 mo_cuda_source *code, mo_cuda_grid *grid,
                                 mo_error *err);

#endif
