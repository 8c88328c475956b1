/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensorcore.h - our GEMM kernels on tensor cores: batched matrix products and
 * implicit-GEMM convolutions.
 *
 * Rows of a (or im2col windows of an image) times columns of b, for every
 * index of a batch. A block computes a tile of the result; where tiles are
 * few, several blocks share one by split-k. One source serves all problems of
 * a kind and tile, so that a network compiles few: sizes, strides, bias and
 * residual are arguments.
 *
 *     problem   layouts, sizes, epilogue   tensorcore_problem.c
 *     config    tile and split-k factor    tensorcore.c
 *     source    the kernel                 tensorcore_*.cuh,
 * tensorcore_kernel.cu
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_TENSORCORE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_TENSORCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/algo/algo.h"

/* The arithmetic, KIND in the device code. */
typedef enum mo_cuda_tensorcore_math {
    MO_CUDA_TENSORCORE_TF32,
    MO_CUDA_TENSORCORE_3XTF32, /* three TF32 products (Ootomo and Yokota 2022):
                                  all but the last 2 or 3 bits of f32 */
    MO_CUDA_TENSORCORE_F16,
    MO_CUDA_TENSORCORE_BF16
} mo_cuda_tensorcore_math;

/* The layout of an operand. */
typedef enum mo_cuda_tensorcore_layout {
    MO_CUDA_TENSORCORE_K_MAJOR,  /* k runs fastest */
    MO_CUDA_TENSORCORE_MN_MAJOR, /* rows of a, or columns of b, run fastest */
    MO_CUDA_TENSORCORE_IM2COL    /* a: an image, channels last */
} mo_cuda_tensorcore_layout;

enum {
    MO_CUDA_TENSORCORE_MAX_BATCH_DIMS = 3,
    MO_CUDA_TENSORCORE_K_STEP_BYTES = 128
};

/* Windows of im2col. */
typedef struct mo_cuda_tensorcore_window {
    int in_h, in_w, out_h, out_w, kernel_h, kernel_w;
    int stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
    int channels; /* of an image, per k */
} mo_cuda_tensorcore_window;

/* The kernel's argument, member by member as in tensorcore_load.cuh. */
typedef struct mo_cuda_tensorcore_args {
    const void *a, *b;
    void *out;
    const void *bias, *residual;
    float *parts;
    unsigned *arrived;
    int64_t a_batch[MO_CUDA_TENSORCORE_MAX_BATCH_DIMS],
        b_batch[MO_CUDA_TENSORCORE_MAX_BATCH_DIMS];
    int64_t c_batch[MO_CUDA_TENSORCORE_MAX_BATCH_DIMS],
        bias_batch[MO_CUDA_TENSORCORE_MAX_BATCH_DIMS];
    int extent[MO_CUDA_TENSORCORE_MAX_BATCH_DIMS]; /* outermost first */
    int m, n, k;
    int a_pitch, b_pitch, c_pitch; /* IM2COL: from pixel to pixel */
    int tiles_m;
    int n_parts, part_k;
    mo_cuda_tensorcore_window window;
    int residual_last;
    int clustered;
    float low, high; /* bounds that the result is clamped to */
} mo_cuda_tensorcore_args;

typedef struct mo_cuda_tensorcore_problem {
    mo_cuda_tensorcore_math kind;
    mo_elem elem; /* of all operands */
    mo_cuda_tensorcore_layout a_form, b_form;
    int a_count, b_count; /* neighbours in one copy */
    bool b_constant;
    bool b_packed;      /* the problem's columns, not the operand */
    bool whole;         /* four neighbours of the result are stored at once */
    int a_in, b_in;     /* indices of the call's operands */
    int bias, residual; /* the same; -1: none */
    bool has_act;
    mo_point_program act; /* a program of one operand */
    bool program; /* the epilogue is part of the source, not an argument */
    mo_cuda_tensorcore_args arguments; /* all but pointers and split-k */
    int64_t batches;
} mo_cuda_tensorcore_problem;

/* Returns false when these kernels do not support the problem. */
bool mo_cuda_tensorcore_problem_init(const mo_backend_unit *unit,
                                     const mo_cuda_algo_problem *task,
                                     mo_cuda_tensorcore_problem *problem);

/* A tile m x n of the result: warps of warp_m x warp_n, and groups of all of
 * them that share the steps of k. */
typedef struct mo_cuda_tensorcore_tile {
    int m, n, warp_m, warp_n, groups, stages;
    int blocks; /* occupancy: resident blocks per SM, at least */
} mo_cuda_tensorcore_tile;

int mo_cuda_tensorcore_block_threads(const mo_cuda_tensorcore_tile *tile);
/* Returns the dynamic shared memory of a block, in bytes. */
size_t
mo_cuda_tensorcore_shared_bytes(const mo_cuda_tensorcore_problem *problem,
                                const mo_cuda_tensorcore_tile *tile);

typedef struct mo_cuda_tensorcore_config {
    mo_cuda_tensorcore_tile tile;
    int parts;
    bool clustered; /* blocks of one tile reduce within a cluster */
    double cost;    /* estimated clocks, only for comparison */
} mo_cuda_tensorcore_config;

/* Fills in at most that many configurations, the cheapest first; returns their
 * number. */
int mo_cuda_tensorcore_find_configs(const mo_backend_unit *unit, bool clusters,
                                    const mo_cuda_tensorcore_problem *problem,
                                    mo_cuda_tensorcore_config *configs,
                                    int most);

/* Returns whether algo is one of mo_cuda_tensorcore_algos; those read the
 * problem's columns. */
bool mo_cuda_is_tensorcore_algo(const mo_cuda_algo *algo);

/* Appends the kernel "tensor" to code. */
void mo_cuda_emit_tensorcore(mo_cuda_source *code,
                             const mo_cuda_algo_problem *task,
                             const mo_cuda_tensorcore_problem *problem,
                             const mo_cuda_tensorcore_tile *tile);

#endif
