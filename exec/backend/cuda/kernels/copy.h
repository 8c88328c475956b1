/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - boxes of a copy on their way to kernels (inside of
 * exec/backend/cuda).
 *
 * Boxes of one form differ only in where they begin: the parts of a concat, the
 * windows of a partition.  A kernel has a few forms built in, and many boxes of
 * each as its arguments.  Elements are moved by the 16 bytes where everything
 * is a multiple of that, else by as many as go.
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
        32, /* turned forms are moved in such squares */
    MO_CUDA_COPY_MAX_WIDTH = 16
};

/* Zeros where nothing else is said: forms are compared byte by byte. */
typedef struct mo_cuda_copy_shape {
    int64_t width; /* bytes that are moved at once */
    int64_t rank;  /* at least 1; strides count widths */
    int64_t extent[MO_MAX_RANK];
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    int64_t fills;  /* with filler, and nothing is read */
    int64_t turned; /* the dimension along which the input is contiguous, where
                       the output is along the last */
    unsigned char filler[MO_CUDA_COPY_MAX_WIDTH];
} mo_cuda_copy_shape;

typedef struct mo_cuda_copy_box {
    mo_cuda_copy_shape form;
    int from, to;                  /* operands; from may be MO_CALL_COPY_FILL */
    int64_t in_offset, out_offset; /* bytes */
} mo_cuda_copy_box;

/* Of one that mo_backend_copy_check has seen and that is not empty; elem is the
 * type it writes. */
mo_cuda_copy_box mo_cuda_copy_box_of(const mo_call_copy *copy,
                                     const mo_call_copy_box *box, mo_elem elem);

/* A kernel's share of the work: one form, so many boxes, blocks for each. */
typedef struct mo_cuda_copy_group {
    const mo_cuda_copy_shape *form;
    int n_boxes;
    int64_t blocks;
} mo_cuda_copy_group;

enum { MO_CUDA_COPY_MAX_GROUPS = 8, MO_CUDA_COPY_MAX_BOXES = 240 };

/* The only argument of the kernel "copy" is an array of these, in order. */
typedef struct mo_cuda_copy_pointers {
    const char *in;
    char *out;
} mo_cuda_copy_pointers;

/* The blocks that a box of a form is worth, at most so many where it is not
 * turned. */
int64_t mo_cuda_copy_shape_blocks(const mo_cuda_copy_shape *form, int threads,
                                  int64_t most);

void mo_cuda_emit_copy(const mo_cuda_copy_group *portions, int n, int threads,
                       mo_cuda_source *code);

/* What was written since the last cut: boxes that meet nothing of it may run
 * side by side. */
typedef struct mo_cuda_write_set mo_cuda_write_set;
mo_status mo_cuda_write_set_new(const mo_call *call, const mo_tensor_desc *out,
                                mo_cuda_write_set **written, mo_error *err);
void mo_cuda_write_set_free(mo_cuda_write_set *written);

/* Adds a box; false when it meets something: then all else is forgotten. */
bool mo_cuda_write_set_add(mo_cuda_write_set *written,
                           const mo_call_copy_box *box);

#endif
