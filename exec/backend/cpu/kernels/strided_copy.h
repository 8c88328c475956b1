/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - boxes of copies as they are run.
 *
 * Dimensions are sorted by where they write, those that lie behind each other
 * on both sides are merged, and what is contiguous on both sides has become the
 * element: a row of 64 floats is an element of 256 bytes.  What is left are the
 * two innermost dimensions, done by one of few loops (mo_cpu_copy_fn), and
 * those around them.  Everything is in bytes.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_STRIDED_COPY_H
#define MO_EXEC_BACKEND_CPU_KERNELS_STRIDED_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/op/call.h"

/* A plane of elements: rows and columns, each so many bytes apart. */
typedef struct mo_cpu_copy_plane {
    int64_t rows, columns;
    int64_t in_row, in_column, out_row, out_column;
    size_t width; /* of an element */
} mo_cpu_copy_plane;

typedef void mo_cpu_copy_fn(const mo_cpu_copy_plane *plane, const char *in,
                            char *out);

typedef struct mo_cpu_strided_copy {
    int from, to;  /* operands, from may be MO_CALL_COPY_FILL */
    uint64_t fill; /* room for the element to fill with */
    int64_t in_offset, out_offset;
    int rank; /* dimensions around the plane */
    int64_t extent[MO_MAX_RANK];
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    mo_cpu_copy_plane plane;
    mo_cpu_copy_fn *move;
    int64_t row_step;  /* rows of the plane that are moved at once */
    int64_t n_units;   /* such parts, of all planes */
    int64_t n_at_once; /* units that are worth a job */
} mo_cpu_strided_copy;

/* Fills made, which may become two boxes; how many, 0 when there is nothing to
 * do.  The box is one that mo_backend_copy_check has seen, elem the type it
 * writes. */
int mo_cpu_strided_copy_init(const mo_call_copy_box *box, mo_elem elem,
                             mo_cpu_strided_copy made[2]);

/* Does units begin to end - 1.  in and out are the operands' own bytes. */
void mo_cpu_strided_copy_run(const mo_cpu_strided_copy *box, const void *in,
                             void *out, int64_t begin, int64_t end);

/* The loop for a plane.  move.c */
mo_cpu_copy_fn *mo_cpu_copy_fn_for(const mo_cpu_copy_plane *plane);

/* The loop for planes that are turned, NULL for odd widths.  turn.c */
mo_cpu_copy_fn *mo_cpu_transpose_fn_for(size_t width);

/* Is it turned: neighbours of a column lie side by side in the input?  Such a
 * plane is done in squares. */
bool mo_cpu_copy_plane_is_transposed(const mo_cpu_copy_plane *plane);

#endif
