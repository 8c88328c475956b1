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
typedef enum mo_tensor_kind {
    MO_TENSOR_TF32,
    MO_TENSOR_F32, /* three products of TF32: all but the last 2 or 3 bits */
    MO_TENSOR_F16,
    MO_TENSOR_BF16
} mo_tensor_kind;

/* How an operand lies. */
typedef enum mo_tensor_form {
    MO_TENSOR_ROWS,   /* k runs fastest */
    MO_TENSOR_TURNED, /* rows of a, or columns of b, run fastest */
    MO_TENSOR_WINDOWS /* a: an image, channels last */
} mo_tensor_form;

enum { MO_TENSOR_BATCHES = 3, MO_TENSOR_STEP_BYTES = 128 };

/* The kernel's argument, member by member as tensor_load.inc has it. */
typedef struct mo_tensor_arguments {
    const void *a, *b;
    void *out;
    const void *bias, *residual;
    float *parts;
    unsigned *arrived;
    int64_t a_batch[MO_TENSOR_BATCHES], b_batch[MO_TENSOR_BATCHES];
    int64_t c_batch[MO_TENSOR_BATCHES], bias_batch[MO_TENSOR_BATCHES];
    int extent[MO_TENSOR_BATCHES]; /* outermost first */
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
} mo_tensor_arguments;

typedef struct mo_tensor_problem {
    mo_tensor_kind kind;
    mo_elem elem; /* of all operands */
    mo_tensor_form a_form, b_form;
    int a_count, b_count; /* neighbours that are copied at once */
    bool b_constant;
    bool b_packed;      /* the task's weights, not the operand */
    bool whole;         /* four neighbours of the result at once */
    int a_in, b_in;     /* operands of the call */
    int bias, residual; /* the same, or -1 */
    bool has_act;
    mo_point act; /* a program of one operand */
    bool program; /* the epilogue is no argument but a part of the source */
    mo_tensor_arguments arguments; /* but for pointers and parts */
    int64_t batches;
} mo_tensor_problem;

/* False when these kernels cannot do it. */
bool mo_tensor_problem_of(const mo_unit *unit, const mo_cuda_task *task,
                          mo_tensor_problem *problem);

/* A tile m x n of the result in blocks of threads: warps of warp_m x warp_n,
 * and groups of all of them that share the steps of k. */
typedef struct mo_tensor_tile {
    int m, n, warp_m, warp_n, groups, stages;
    int blocks; /* that an SM shall have room for */
} mo_tensor_tile;

int mo_tensor_threads(const mo_tensor_tile *tile);
/* Dynamic shared memory of a block. */
size_t mo_tensor_shared(const mo_tensor_problem *problem,
                        const mo_tensor_tile *tile);

typedef struct mo_tensor_plan {
    mo_tensor_tile tile;
    int parts;
    bool clustered; /* blocks of one tile add up by themselves */
    double cost;    /* expected, in clocks; only for comparing */
} mo_tensor_plan;

/* The likely best first; returns how many, at most the given number. */
int mo_tensor_plans(const mo_unit *unit, bool clusters,
                    const mo_tensor_problem *problem, mo_tensor_plan *plans,
                    int most);

/* Is it one of mo_cuda_tensor_ways?  Those read the task's columns. */
bool mo_tensor_is(const mo_cuda_way *way);

/* The kernel is called "tensor". */
void mo_tensor_source(mo_code *code, const mo_cuda_task *task,
                      const mo_tensor_problem *problem,
                      const mo_tensor_tile *tile);

#endif
