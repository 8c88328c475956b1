/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided_copy.h - strided copy of a box, prepared for execution.
 *
 * Dimensions are sorted by output stride, those contiguous on both sides are
 * merged, and what is contiguous on both sides has become the element: a row
 * of 64 floats is an element of 256 bytes. The two innermost dimensions form a
 * plane, copied by one of few loops (mo_cpu_copy_fn); the others surround it.
 * All sizes are in bytes.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_STRIDED_COPY_H
#define MO_EXEC_BACKEND_CPU_KERNELS_STRIDED_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/op/call.h"

/* A plane of elements: rows and columns with their strides. */
typedef struct mo_cpu_copy_plane {
    int64_t rows, columns;
    int64_t in_row, in_column, out_row, out_column;
    size_t width; /* of an element */
} mo_cpu_copy_plane;

typedef void mo_cpu_copy_fn(const mo_cpu_copy_plane *plane, const char *in,
                            char *out);

typedef struct mo_cpu_strided_copy {
    int from, to;  /* operands, from may be MO_CALL_COPY_FILL */
    uint64_t fill; /* buffer of the element to fill with */
    int64_t in_offset, out_offset;
    int rank; /* dimensions around the plane */
    int64_t extent[MO_MAX_RANK];
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    mo_cpu_copy_plane plane;
    mo_cpu_copy_fn *move;
    int64_t row_step;  /* rows of the plane per work item */
    int64_t n_units;   /* work items of all planes */
    int64_t n_at_once; /* work items per job */
} mo_cpu_strided_copy;

/* Fills made[0] and made[1]; returns how many boxes they are, 0 if there is
 * nothing to copy. box has passed mo_backend_copy_check; elem is the type it
 * writes. */
int mo_cpu_strided_copy_init(const mo_call_copy_box *box, mo_elem elem,
                             mo_cpu_strided_copy made[2]);

/* Copies work items begin, ..., end - 1. in and out are the operands'
 * buffers. */
void mo_cpu_strided_copy_run(const mo_cpu_strided_copy *box, const void *in,
                             void *out, int64_t begin, int64_t end);

/* Returns the loop for a plane (copy_loops.c). */
mo_cpu_copy_fn *mo_cpu_copy_fn_for(const mo_cpu_copy_plane *plane);

/* Returns the loop for transposed planes (transpose.c), or NULL unless width is
 * 1, 2, 4, 8 or 16 bytes. */
mo_cpu_copy_fn *mo_cpu_transpose_fn_for(size_t width);

/* Returns whether columns are contiguous in the input: such a plane is copied
 * in square blocks. */
bool mo_cpu_copy_plane_is_transposed(const mo_cpu_copy_plane *plane);

#endif
