/*
 * attention.h - kernels of attention, as they are cut up.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_FUSED_ATTENTION_H
#define MO_EXEC_BACKEND_CUDA_ALGO_FUSED_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/jit/jit_cache.h"

/* Wider rows of q, k or v do not fit the registers. */
enum { MO_CUDA_ATTENTION_MOST = 128 };

/* How the work is cut: see attention_tensor.inc. */
typedef struct mo_cuda_attention_cut {
    int across, along; /* warps of a block, by queries and by keys */
    int deep;          /* 16 queries so many times */
    int span;          /* 8 keys so many times in a turn */
} mo_cuda_attention_cut;

/* What is to be done. */
typedef struct mo_cuda_attention_task {
    const mo_call *call;
    const mo_call_operand *in;
    const mo_desc *out;
    int64_t batches;
    bool tensor; /* on tensor cores; else by rows */
    bool exact;  /* products as good as those of floats */
} mo_cuda_attention_task;

/* The pointers behind what the score and the mask read. */
enum { MO_CUDA_ATTENTION_SEEN = MO_POINT_MAX_OPERANDS };

typedef struct mo_cuda_attention_seen {
    const void *pointers[MO_CUDA_ATTENTION_SEEN];
} mo_cuda_attention_seen;

/* The source of the function "attention", and how it is launched; cut means
 * nothing by rows. */
mo_status mo_cuda_attention_source(const mo_cuda_attention_task *task,
                                   const mo_cuda_attention_cut *cut,
                                   mo_code *code, mo_cuda_grid *grid,
                                   mo_error *err);

/* Ways to cut it, the likely best first; how many. */
enum { MO_CUDA_ATTENTION_CUTS = 4 };
int mo_cuda_attention_cuts(const mo_cuda_attention_task *task, int sms,
                           mo_cuda_attention_cut cuts[MO_CUDA_ATTENTION_CUTS]);

#endif
