/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.h - products by kernels of our own on tensor cores.
 *
 * A MATMUL or a CONV becomes one problem: rows of a (or windows of an image)
 * times columns of b, for every index of a batch.  A block of threads makes a
 * tile of the result; where tiles are few, several blocks share one by parts of
 * k.  One source serves all problems of a kind whatever their sizes, so that a
 * network needs few: sizes, strides, bias and residual are arguments.
 *
 *     problem   what is to be done         tensor_problem.c
 *     plan      by which tile, how many    tensor_plan.c
 *               parts; the likely best
 *     source    the text of its kernel     tensor_source.c, tensor_*.inc
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_TENSORCORE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_TENSORCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/algo/algo.h"

/* What is multiplied, as KIND of the sources. */
typedef enum mo_cuda_tensorcore_math {
    MO_CUDA_TENSORCORE_TF32,
    MO_CUDA_TENSORCORE_3XTF32, /* three products of TF32: all but the last 2 or
                                  3 bits */
    MO_CUDA_TENSORCORE_F16,
    MO_CUDA_TENSORCORE_BF16
} mo_cuda_tensorcore_math;

/* How an operand lies. */
typedef enum mo_cuda_tensorcore_layout {
    MO_CUDA_TENSORCORE_K_MAJOR,  /* k runs fastest */
    MO_CUDA_TENSORCORE_MN_MAJOR, /* rows of a, or columns of b, run fastest */
    MO_CUDA_TENSORCORE_IM2COL    /* a: an image, channels last */
} mo_cuda_tensorcore_layout;

enum {
    MO_CUDA_TENSORCORE_MAX_BATCH_DIMS = 3,
    MO_CUDA_TENSORCORE_K_STEP_BYTES = 128
};

/* The kernel's argument, member by member as tensor_load.inc has it. */
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
    int a_pitch, b_pitch, c_pitch; /* WINDOWS: from pixel to pixel */
    int tiles_m;
    int n_parts, part_k;
    int in_h, in_w, out_h, out_w, kernel_h, kernel_w;
    int stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
    int channels; /* that k goes over */
    int residual_last;
    int clustered;
    float low, high; /* the result is kept between them */
} mo_cuda_tensorcore_args;

typedef struct mo_cuda_tensorcore_problem {
    mo_cuda_tensorcore_math kind;
    mo_elem elem; /* of all operands */
    mo_cuda_tensorcore_layout a_form, b_form;
    int a_count, b_count; /* neighbours that are copied at once */
    bool b_constant;
    bool b_packed;      /* the task's weights, not the operand */
    bool whole;         /* four neighbours of the result at once */
    int a_in, b_in;     /* operands of the call */
    int bias, residual; /* the same, or -1 */
    bool has_act;
    mo_point_program act; /* a program of one operand */
    bool program; /* the epilogue is no argument but a part of the source */
    mo_cuda_tensorcore_args arguments; /* but for pointers and parts */
    int64_t batches;
} mo_cuda_tensorcore_problem;

/* False when these kernels cannot do it. */
bool mo_cuda_tensorcore_problem_init(const mo_backend_unit *unit,
                                     const mo_cuda_algo_problem *task,
                                     mo_cuda_tensorcore_problem *problem);

/* A tile m x n of the result in blocks of threads: warps of warp_m x warp_n,
 * and groups of all of them that share the steps of k. */
typedef struct mo_cuda_tensorcore_tile {
    int m, n, warp_m, warp_n, groups, stages;
    int blocks; /* that an SM shall have room for */
} mo_cuda_tensorcore_tile;

int mo_cuda_tensorcore_block_threads(const mo_cuda_tensorcore_tile *tile);
/* Dynamic shared memory of a block. */
size_t
mo_cuda_tensorcore_shared_bytes(const mo_cuda_tensorcore_problem *problem,
                                const mo_cuda_tensorcore_tile *tile);

typedef struct mo_cuda_tensorcore_config {
    mo_cuda_tensorcore_tile tile;
    int parts;
    bool clustered; /* blocks of one tile add up by themselves */
    double cost;    /* expected, in clocks; only for comparing */
} mo_cuda_tensorcore_config;

/* The likely best first; returns how many, at most the given number. */
int mo_cuda_tensorcore_find_configs(const mo_backend_unit *unit, bool clusters,
                                    const mo_cuda_tensorcore_problem *problem,
                                    mo_cuda_tensorcore_config *configs,
                                    int most);

/* Is it one of mo_cuda_tensorcore_algos?  Those read the task's columns. */
bool mo_cuda_is_tensorcore_algo(const mo_cuda_algo *algo);

/* The kernel is called "tensor". */
void mo_cuda_emit_tensorcore(mo_cuda_source *code,
                             const mo_cuda_algo_problem *task,
                             const mo_cuda_tensorcore_problem *problem,
                             const mo_cuda_tensorcore_tile *tile);

#endif
