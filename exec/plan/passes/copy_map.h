/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_map.h - copy calls as bijections between places
 * (exec/tensor/strided_view.h).
 */
#ifndef MO_EXEC_PLAN_PASSES_COPY_MAP_H
#define MO_EXEC_PLAN_PASSES_COPY_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"
#include "exec/tensor/strided_view.h"

/* The map from places of the box's output to places of its input; false when
 * the box does not fill its output. */
static inline bool mo_pass_copy_map(const mo_call_copy_box *box,
                                    mo_tensor_copy_map *map)
{
    return mo_tensor_copy_map_init(map, box->rank, box->extent, box->in_offset,
                                   box->in_stride, box->out_offset,
                                   box->out_stride);
}

/* The map from places of the box's input to places of its output. */
static inline bool mo_pass_copy_map_inverse(const mo_call_copy_box *box,
                                            mo_tensor_copy_map *map)
{
    return mo_tensor_copy_map_init(map, box->rank, box->extent, box->out_offset,
                                   box->out_stride, box->in_offset,
                                   box->in_stride);
}

/* The map of a call that copies one box into its only output, of that many
 * elements; false when the call does anything else. */
static inline bool mo_pass_copy_map_of_call(const mo_call *call,
                                            int64_t elements,
                                            mo_tensor_copy_map *map)
{
    return call->kind == MO_CALL_COPY && call->u.copy.n_boxes == 1 &&
           call->n_out == 1 &&
           call->u.copy.boxes[0].from != MO_CALL_COPY_FILL &&
           mo_pass_copy_map(&call->u.copy.boxes[0], map) &&
           map->elements == elements;
}

#endif
