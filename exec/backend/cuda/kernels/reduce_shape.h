/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_shape.h - how a reduction is cut up for the device.
 *
 * Dimensions are sorted as they lie in the input and neighbours are merged.
 * Where the innermost one goes, the threads of a result are neighbours; where
 * it stays, the results are.  A result has `lanes` threads of a block and
 * `splits` blocks, whose parts are put together by a second function.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_REDUCE_SHAPE_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_REDUCE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/call.h"

typedef struct mo_cuda_reduce_axis {
    int64_t extent, in, out;
} mo_cuda_reduce_axis;

typedef struct mo_cuda_reduce_axes {
    mo_cuda_reduce_axis axes[MO_MAX_RANK]; /* the outermost first */
    int n;
    int64_t size; /* of all together */
} mo_cuda_reduce_axes;

typedef struct mo_cuda_reduce_shape {
    mo_cuda_reduce_axes kept, folded;
    bool by_rows; /* the innermost dimension goes */
    int width;    /* elements read as one; they are of one result */
    int lanes, outputs;
    int splits;
    int64_t share; /* of the folded elements, for each split: vectors */
} mo_cuda_reduce_shape;

/* bytes: of an element; sms: of the device. */
mo_cuda_reduce_shape mo_cuda_reduce_shape_of(const mo_call_reduce *reduce,
                                             int bytes, int sms);

/* The functions in_of and out_of of a result's number, step_of of a folded
 * vector's, and constants with the names of the members. */
void mo_cuda_emit_reduce_shape(mo_cuda_source *code,
                               const mo_cuda_reduce_shape *shape);

#endif
