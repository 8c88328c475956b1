/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/strided_view.h"

#include <string.h>

#include "base/array.h"

void mo_tensor_view_append_dim(mo_tensor_view *view, int64_t extent,
                               int64_t stride)
{
    view->extent[view->rank] = extent;
    view->stride[view->rank++] = stride;
}

bool mo_tensor_view_is_dense(const mo_tensor_view *view)
{
    int64_t stride = 1;

    for (int d = view->rank; d-- > 0;) {
        if (view->extent[d] != 1 && view->stride[d] != stride)
            return false;
        if (!mo_int64_mul(stride, view->extent[d], &stride))
            return false;
    }
    return view->offset == 0;
}

bool mo_tensor_view_has_unit_stride(const mo_tensor_view *view)
{
    int last = view->rank - 1;

    return view->extent[last] == 1 || view->stride[last] == 1;
}

int64_t mo_tensor_view_elements(const mo_tensor_view *view)
{
    int64_t elements = 1;

    for (int d = 0; d < view->rank; d++)
        if (!mo_int64_mul(elements, view->extent[d], &elements))
            return -1;
    return elements;
}

bool mo_tensor_copy_map_init(mo_tensor_copy_map *map, int rank,
                             const int64_t *extent, int64_t from_offset,
                             const int64_t *from_stride, int64_t to_offset,
                             const int64_t *to_stride)
{
    memset(map, 0, sizeof *map);
    if (to_offset != 0)
        return false;
    map->offset = from_offset;
    for (int d = 0; d < rank; d++)
        if (extent[d] != 1) {
            /* Inserts a dimension behind those with a larger stride in the
             * result. */
            int64_t to = to_stride[d];
            int at = map->rank++;

            for (; at > 0 && map->to[at - 1] < to; at--) {
                map->extent[at] = map->extent[at - 1];
                map->from[at] = map->from[at - 1];
                map->to[at] = map->to[at - 1];
            }
            map->extent[at] = extent[d];
            map->from[at] = from_stride[d];
            map->to[at] = to;
        }
    /* The result must be written densely; counts its elements. */
    map->elements = 1;
    for (int d = map->rank; d-- > 0;)
        if (map->extent[d] < 1 || map->to[d] != map->elements ||
            !mo_int64_mul(map->elements, map->extent[d], &map->elements))
            return false;

    /* Neighbouring dimensions that follow each other in the source, too, become
     * one. */
    int n = 0;

    for (int d = 0; d < map->rank; d++) {
        if (n > 0 && map->from[n - 1] == map->from[d] * map->extent[d]) {
            map->extent[n - 1] *= map->extent[d];
        } else {
            map->extent[n] = map->extent[d];
            n++;
        }
        map->to[n - 1] = map->to[d];
        map->from[n - 1] = map->from[d];
    }
    map->rank = n;
    return true;
}

/* The state of a composition: last[d] is the largest index that the dimensions
 * composed so far reach in dimension d of the copy. */
typedef struct composition {
    const mo_tensor_copy_map *map;
    mo_tensor_view *source;
    mo_tensor_dim_split *split;
    int64_t last[MO_MAX_RANK];
} composition;

/* The source's offset, from the place in the result where the view begins.
 * False when that is outside. */
static bool compose_offset(composition *c, int64_t offset)
{
    const mo_tensor_copy_map *map = c->map;

    if (offset < 0 || offset >= map->elements)
        return false;
    c->source->offset = map->offset;
    for (int d = 0; d < map->rank; d++) {
        c->last[d] = offset / map->to[d];
        offset %= map->to[d];
        c->source->offset += c->last[d] * map->from[d];
    }
    return true;
}

/* Inserts a dimension into the composed view, right before `at`, where the
 * parts of the view's own dimension begin. */
static bool insert_part(composition *c, int at, int64_t extent, int64_t stride,
                        int part, int64_t weight)
{
    mo_tensor_view *source = c->source;
    mo_tensor_dim_split *split = c->split;

    if (source->rank == MO_TENSOR_VIEW_MAX_RANK)
        return false;
    for (int k = source->rank; k > at; k--) {
        source->extent[k] = source->extent[k - 1];
        source->stride[k] = source->stride[k - 1];
        split->part[k] = split->part[k - 1];
        split->weight[k] = split->weight[k - 1];
    }
    source->extent[at] = extent;
    source->stride[at] = stride;
    split->part[at] = part;
    split->weight[at] = weight;
    source->rank++;
    return true;
}

/* The dimension of the copy in which a stride steps, or -1. */
static int stepped_dim(const mo_tensor_copy_map *map, int64_t stride)
{
    for (int d = 0; d < map->rank; d++)
        if (map->to[d] <= stride)
            return stride % map->to[d] == 0 ? d : -1;
    return -1;
}

/* Composes dimension `part` of the view, split from the inside out. */
static bool compose_dim(composition *c, const mo_tensor_view *view, int part)
{
    const mo_tensor_copy_map *map = c->map;
    int64_t left = view->extent[part], stride = view->stride[part], weight = 1;
    int at = c->source->rank;

    if (left == 1 || stride == 0)
        return insert_part(c, at, left, 0, part, 1);
    while (left > 1) {
        int d = stepped_dim(map, stride);
        int64_t step, room, taken;

        if (d < 0)
            return false;
        step = stride / map->to[d];
        room = (map->extent[d] - 1 - c->last[d]) / step + 1;
        taken = left <= room ? left : map->extent[d] / step;
        if (taken < 2 || taken > room || left % taken != 0 ||
            (taken < left && map->extent[d] % step != 0))
            return false;
        c->last[d] += (taken - 1) * step;
        if (!insert_part(c, at, taken, step * map->from[d], part, weight))
            return false;
        left /= taken;
        stride *= taken;
        weight *= taken;
    }
    return true;
}

bool mo_tensor_view_compose(const mo_tensor_copy_map *map,
                            const mo_tensor_view *view, mo_tensor_view *source,
                            mo_tensor_dim_split *split)
{
    composition c = { .map = map, .source = source, .split = split };

    memset(source, 0, sizeof *source);
    memset(split, 0, sizeof *split);
    if (!compose_offset(&c, view->offset))
        return false;
    for (int d = 0; d < view->rank; d++)
        if (view->extent[d] < 1 || !compose_dim(&c, view, d))
            return false;
    return true;
}

bool mo_tensor_view_compose_unsplit(const mo_tensor_copy_map *map,
                                    mo_tensor_view *view)
{
    mo_tensor_view source;
    mo_tensor_dim_split split;

    if (!mo_tensor_view_compose(map, view, &source, &split) ||
        source.rank != view->rank)
        return false;
    *view = source;
    return true;
}
