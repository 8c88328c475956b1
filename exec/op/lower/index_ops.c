/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of operators that pick or place by index, or make indices.
 */
#include <stddef.h>

#include "exec/op/lower/movement_ops.h"

#define VALUE(i) MO_LOWER_INPUT(i)

const mo_lower_entry mo_lower_index_ops[] = {
    { "Gather", mo_lower_gather, VALUE(2) },
    { "GatherElements", mo_lower_gather_elements, 0 },
    { "GatherND", mo_lower_gather_nd, 0 },

    { "ScatterUpdate", mo_lower_scatter_update, VALUE(3) },
    { "ScatterElementsUpdate", mo_lower_scatter_elements, VALUE(3) },
    { "ScatterNDUpdate", mo_lower_scatter_nd, 0 },

    { "ShapeOf", mo_lower_shape_of, 0 },
    { "Range", mo_lower_range, 0 },
    { "Eye", mo_lower_eye, VALUE(2) },
    { "OneHot", mo_lower_one_hot, VALUE(1) },
    { NULL, NULL, 0 },
};
