/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trail.h - which elements of a tensor are read or written, dimension by
 * dimension, and where these are in another tensor that it was copied from.
 *
 *     offset + i[0] * stride[0] + i[1] * stride[1] + ...
 *
 * Elements are counted as they lie.  A trail that goes through a copy needs the
 * copy no more: it finds in the original what it wants.
 */
#ifndef MO_EXEC_TENSOR_STRIDED_VIEW_H
#define MO_EXEC_TENSOR_STRIDED_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"

enum { MO_TENSOR_VIEW_MAX_RANK = MO_CALL_MATMUL_MAX_BATCH + 2 };

typedef struct mo_tensor_view {
    int rank;
    int64_t offset;
    int64_t extent[MO_TENSOR_VIEW_MAX_RANK], stride[MO_TENSOR_VIEW_MAX_RANK];
} mo_tensor_view;

/* One more dimension, behind the others. */
void mo_tensor_view_append_dim(mo_tensor_view *trail, int64_t extent,
                               int64_t stride);

/* Does it go over all elements in their order, from the first one on? */
bool mo_tensor_view_is_dense(const mo_tensor_view *trail);

/* Does the last dimension go from neighbour to neighbour? */
bool mo_tensor_view_has_unit_stride(const mo_tensor_view *trail);

/* How many steps it has; -1 when they cannot be counted. */
int64_t mo_tensor_view_elements(const mo_tensor_view *trail);

/* Takes a trail over what the box writes to one over what it reads.  The box
 * must write all of a tensor, each element once; false, with the trail as it
 * was, when it does not, or when the way is not regular there. */
bool mo_tensor_view_before_copy(mo_tensor_view *trail,
                                const mo_call_copy_box *box);

/* The same from what the box reads to what it writes. */
bool mo_tensor_view_after_copy(mo_tensor_view *trail,
                               const mo_call_copy_box *box);

#endif
