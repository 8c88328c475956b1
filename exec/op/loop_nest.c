/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/loop_nest.h"

#include <assert.h>
#include <string.h>

/* Dimensions of more than one element, the outermost in memory first. */
static int sorted_dims(const mo_point_program *point, const mo_shape *shape,
                       int order[MO_MAX_RANK])
{
    int n = 0;

    for (int d = 0; d < shape->rank; d++) {
        int at = n;

        if (shape->dims[d] == 1)
            continue;
        for (;
             at > 0 && point->out.stride[order[at - 1]] < point->out.stride[d];
             at--)
            order[at] = order[at - 1];
        order[at] = d;
        n++;
    }
    return n;
}

/* Returns true when every operand continues from dimension d into the one
 * before as if they were one. */
static bool can_merge(const mo_point_loop_nest *loops, int n_operands, int d)
{
    for (int i = 0; i < n_operands; i++)
        if (loops->stride[i][d] !=
            loops->stride[i][d + 1] * loops->extent[d + 1])
            return false;
    return true;
}

static void take_out(int64_t *list, int n, int at)
{
    memmove(list + at, list + at + 1, (size_t) (n - 1 - at) * sizeof *list);
}

mo_point_loop_nest mo_point_loop_nest_collapse(const mo_point_program *point,
                                               const mo_shape *shape)
{
    int order[MO_MAX_RANK], n = sorted_dims(point, shape, order);
    mo_point_loop_nest loops = { .rank = n };
    int64_t dense = 1;

    for (int at = n; at-- > 0;) {
        int d = order[at];

        assert(point->out.stride[d] == dense || mo_shape_elements(shape) == 0);
        dense *= shape->dims[d];
        loops.extent[at] = shape->dims[d];
        for (int i = 0; i < point->n_operands; i++)
            loops.stride[i][at] = point->operands[i].access.stride[d];
    }
    if (n == 0) {
        loops.rank = 1;
        loops.extent[0] = 1;
    }
    for (int d = loops.rank - 1; d-- > 0;) {
        if (!can_merge(&loops, point->n_operands, d))
            continue;
        loops.extent[d + 1] *= loops.extent[d];
        take_out(loops.extent, loops.rank, d);
        for (int i = 0; i < point->n_operands; i++)
            take_out(loops.stride[i], loops.rank, d);
        loops.rank--;
    }
    return loops;
}
