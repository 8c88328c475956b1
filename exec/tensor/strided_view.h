/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided_view.h - strided views of a tensor, and their composition with a
 * copy.
 *
 * A view addresses elements of a tensor, counted as they lie in memory:
 *
 *     offset + i[0] * stride[0] + i[1] * stride[1] + ...
 *
 * A copy that fills its result is a bijection between places of the result and
 * places of its source.  A view of the result composed with that bijection is
 * a view of the source: its reader no longer needs the copy.  A dimension of
 * the view that runs over several dimensions of the copy has to be split where
 * those end.
 */
#ifndef MO_EXEC_TENSOR_STRIDED_VIEW_H
#define MO_EXEC_TENSOR_STRIDED_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/tensor/dense_tensor.h"

/* Batch dimensions, rows and columns. */
enum { MO_TENSOR_VIEW_MAX_RANK = MO_MAX_RANK + 2 };

typedef struct mo_tensor_view {
    int rank;
    int64_t offset;
    int64_t extent[MO_TENSOR_VIEW_MAX_RANK], stride[MO_TENSOR_VIEW_MAX_RANK];
} mo_tensor_view;

/* Appends an innermost dimension; the rank must be below the maximum. */
void mo_tensor_view_append_dim(mo_tensor_view *view, int64_t extent,
                               int64_t stride);

/* Returns whether the view visits elements 0, 1, 2, ... in this order. */
bool mo_tensor_view_is_dense(const mo_tensor_view *view);

/* Returns whether neighbours in the last dimension are neighbours in memory. */
bool mo_tensor_view_has_unit_stride(const mo_tensor_view *view);

/* Returns the number of elements the view visits; -1 on overflow. */
int64_t mo_tensor_view_elements(const mo_tensor_view *view);

/* Place sum i[d] * to[d] of the result is place offset + sum i[d] * from[d] of
 * the source; to falls, and the result is dense. */
typedef struct mo_tensor_copy_map {
    int rank;
    int64_t offset, elements;
    int64_t extent[MO_MAX_RANK], to[MO_MAX_RANK], from[MO_MAX_RANK];
} mo_tensor_copy_map;

/* The map of a copy of a box of that rank (at most MO_MAX_RANK) and extent.
 * Returns false when it does not write elements 0 to elements - 1 of the
 * result, each once. */
bool mo_tensor_copy_map_init(mo_tensor_copy_map *map, int rank,
                             const int64_t *extent, int64_t from_offset,
                             const int64_t *from_stride, int64_t to_offset,
                             const int64_t *to_stride);

/* Dimension k of a composed view is a part of dimension part[k] of the view it
 * was made from, and a step in it is weight[k] steps there:
 * old index = sum of new indices times their weights. */
typedef struct mo_tensor_dim_split {
    int part[MO_TENSOR_VIEW_MAX_RANK];
    int64_t weight[MO_TENSOR_VIEW_MAX_RANK];
} mo_tensor_dim_split;

/* Composes a view of the copy's result with the copy: *source is the view of
 * the copy's source that visits the same elements in the same order.  Returns
 * false when there is none; *source and *split then mean nothing. */
bool mo_tensor_view_compose(const mo_tensor_copy_map *map,
                            const mo_tensor_view *view, mo_tensor_view *source,
                            mo_tensor_dim_split *split);

/* The same in place, for a view that needs no split.  Returns false, with the
 * view unchanged, when there is none or a dimension would have to be split. */
bool mo_tensor_view_compose_unsplit(const mo_tensor_copy_map *map,
                                    mo_tensor_view *view);

#endif
