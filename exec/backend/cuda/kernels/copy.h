/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - device code of strided copies, for copy.c.
 *
 * Boxes of one shape differ only in their offsets: the parts of a concat, the
 * windows of a partition. A kernel has a few shapes built in, and the pointers
 * of many boxes as its argument. Words of 16 bytes are copied where all
 * offsets, strides and extents are multiples of that, else the largest power
 * of two that divides them.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_COPY_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/call.h"

enum {
    MO_CUDA_COPY_NOT_TRANSPOSED = -1,
    MO_CUDA_COPY_TRANSPOSE_TILE =
        32, /* edge of the tiles of transposed copies */
    MO_CUDA_COPY_MAX_WIDTH = 16
};

/* Unused elements are zero: shapes are compared by memcmp. */
typedef struct mo_cuda_copy_shape {
    int64_t width; /* bytes of a word */
    int64_t rank;  /* at least 1; strides are in words */
    int64_t extent[MO_MAX_RANK];
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    int64_t fills;      /* writes filler and reads nothing */
    int64_t transposed; /* the dimension along which the input is contiguous
                           where the output is along the last; else
                           MO_CUDA_COPY_NOT_TRANSPOSED */
    unsigned char filler[MO_CUDA_COPY_MAX_WIDTH];
} mo_cuda_copy_shape;

typedef struct mo_cuda_copy_box {
    mo_cuda_copy_shape shape;
    int from, to; /* indices of operands; from may be MO_CALL_COPY_FILL */
    int64_t in_offset, out_offset; /* bytes */
} mo_cuda_copy_box;

/* Returns the shape and offsets of a box that mo_backend_copy_check has
 * accepted and that is not empty; elem is the element type of the result. */
mo_cuda_copy_box mo_cuda_copy_box_of(const mo_call_copy *copy,
                                     const mo_call_copy_box *box, mo_elem elem);

/* The boxes of one shape in a launch, with the number of blocks for each. */
typedef struct mo_cuda_copy_group {
    const mo_cuda_copy_shape *shape;
    int n_boxes;
    int64_t blocks;
} mo_cuda_copy_group;

enum { MO_CUDA_COPY_MAX_GROUPS = 8, MO_CUDA_COPY_MAX_BOXES = 240 };

/* The only argument of the kernel "copy" is an array of these, in order. */
typedef struct mo_cuda_copy_pointers {
    const char *in;
    char *out;
} mo_cuda_copy_pointers;

/* Returns the number of blocks for a box: one per tile if transposed, else at
 * most most. */
int64_t mo_cuda_copy_shape_blocks(const mo_cuda_copy_shape *shape, int threads,
                                  int64_t most);

void mo_cuda_emit_copy(const mo_cuda_copy_group *groups, int n, int threads,
                       mo_cuda_source *code);

#endif
