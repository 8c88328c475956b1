/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved.h - a value that is another one, only moved: where its elements were.
 *
 * A copy of one box that fills its result is a bijection between places.
 * Whoever reads the copy by strides can read the original by strides instead,
 * if its dimensions are cut where those of the copy are.
 */
#ifndef MO_EXEC_TENSOR_VIEW_COMPOSE_H
#define MO_EXEC_TENSOR_VIEW_COMPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"

/* Place sum i[d] * to[d] of the copy is place offset + sum i[d] * from[d] of
 * the original; to falls, and all of it is dense. */
typedef struct mo_tensor_copy_map {
    int64_t offset;
    int rank;
    int64_t extent[MO_MAX_RANK], to[MO_MAX_RANK], from[MO_MAX_RANK];
} mo_tensor_copy_map;

/* False when the call is no such copy; elements: of its result. */
bool mo_tensor_copy_map_from_call(const mo_call *copy, int64_t elements,
                                  mo_tensor_copy_map *moved);

/* A walk over elements: dimensions and strides. */
typedef struct mo_tensor_access {
    int rank;
    int64_t extent[MO_MAX_RANK];
    int64_t offset, stride[MO_MAX_RANK];
} mo_tensor_access;

/*
 * The same walk over the original.  part[k] says of which dimension of walk the
 * new dimension k is a part, and weight[k] how far a step in it goes there: old
 * index = sum of new ones times their weights.  False when there is none.
 */
typedef struct mo_tensor_dim_split {
    int part[MO_MAX_RANK];
    int64_t weight[MO_MAX_RANK];
} mo_tensor_dim_split;

bool mo_tensor_copy_map_compose(const mo_tensor_copy_map *moved,
                                const mo_tensor_access *walk,
                                mo_tensor_access *result,
                                mo_tensor_dim_split *parts);

#endif
