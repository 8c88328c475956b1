/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/view_compose.h"

#include <string.h>

/* ------------------------------------------------------------------ reading */

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;

    *a = *b;
    *b = kept;
}

static void sort_falling(mo_tensor_copy_map *m)
{
    for (int i = 1; i < m->rank; i++)
        for (int j = i; j > 0 && m->to[j - 1] < m->to[j]; j--) {
            swap(&m->to[j - 1], &m->to[j]);
            swap(&m->from[j - 1], &m->from[j]);
            swap(&m->extent[j - 1], &m->extent[j]);
        }
}

static bool is_dense(const mo_tensor_copy_map *m, int64_t elements)
{
    int64_t expected = 1;

    for (int d = m->rank - 1; d >= 0; d--) {
        if (m->to[d] != expected)
            return false;
        expected *= m->extent[d];
    }
    return expected == elements;
}

/* Neighbours that follow each other in the original, too, are one. */
static void merge(mo_tensor_copy_map *m)
{
    int n = 0;

    for (int d = 0; d < m->rank; d++) {
        bool joins = n > 0 && m->from[n - 1] == m->from[d] * m->extent[d];

        if (joins) {
            m->extent[n - 1] *= m->extent[d];
        } else {
            m->extent[n] = m->extent[d];
            n++;
        }
        m->to[n - 1] = m->to[d];
        m->from[n - 1] = m->from[d];
    }
    m->rank = n;
}

bool mo_tensor_copy_map_from_call(const mo_call *copy, int64_t elements,
                                  mo_tensor_copy_map *moved)
{
    const mo_call_copy_box *box = copy->u.copy.boxes;

    memset(moved, 0, sizeof *moved);
    if (copy->kind != MO_CALL_COPY || copy->u.copy.n_boxes != 1 ||
        copy->n_out != 1 || box->from == MO_CALL_COPY_FILL ||
        box->out_offset != 0 || elements <= 0)
        return false;
    moved->offset = box->in_offset;
    for (int d = 0; d < box->rank; d++) {
        if (box->extent[d] == 1)
            continue;
        moved->extent[moved->rank] = box->extent[d];
        moved->to[moved->rank] = box->out_stride[d];
        moved->from[moved->rank++] = box->in_stride[d];
    }
    sort_falling(moved);
    if (!is_dense(moved, elements))
        return false;
    merge(moved);
    return true;
}

/* ------------------------------------------------------------------ walking */

/* How far the walk goes in each dimension of the copy, as index. */
typedef struct reach {
    int64_t most[MO_MAX_RANK];
} reach;

static bool begin(const mo_tensor_copy_map *m, int64_t offset,
                  mo_tensor_access *result, reach *r)
{
    if (offset < 0)
        return false;
    result->offset = m->offset;
    for (int d = 0; d < m->rank; d++) {
        r->most[d] = offset / m->to[d];
        offset %= m->to[d];
        if (r->most[d] >= m->extent[d])
            return false;
        result->offset += r->most[d] * m->from[d];
    }
    return offset == 0;
}

/* One more dimension of the result, right before `at`, where the parts of the
 * walk's own dimension begin. */
static bool put(mo_tensor_access *result, mo_tensor_dim_split *parts, int at,
                int64_t extent, int64_t stride, int part, int64_t weight)
{
    if (result->rank == MO_MAX_RANK)
        return false;
    for (int k = result->rank; k > at; k--) {
        result->extent[k] = result->extent[k - 1];
        result->stride[k] = result->stride[k - 1];
        parts->part[k] = parts->part[k - 1];
        parts->weight[k] = parts->weight[k - 1];
    }
    result->extent[at] = extent;
    result->stride[at] = stride;
    parts->part[at] = part;
    parts->weight[at] = weight;
    result->rank++;
    return true;
}

/* The dimension of the copy in which a stride steps, or -1. */
static int dimension_of(const mo_tensor_copy_map *m, int64_t stride)
{
    for (int d = 0; d < m->rank; d++)
        if (m->to[d] <= stride)
            return stride % m->to[d] == 0 ? d : -1;
    return -1;
}

/* Dimension `part` of the walk, cut from the inside out. */
static bool walk_one(const mo_tensor_copy_map *m, const mo_tensor_access *walk,
                     int part, mo_tensor_access *result,
                     mo_tensor_dim_split *parts, reach *r)
{
    int64_t left = walk->extent[part], stride = walk->stride[part], weight = 1;
    int at = result->rank;

    if (left == 1 || stride == 0)
        return put(result, parts, at, left, 0, part, 1);
    while (left > 1) {
        int d = dimension_of(m, stride);
        int64_t step, room, taken;

        if (d < 0)
            return false;
        step = stride / m->to[d];
        room = (m->extent[d] - 1 - r->most[d]) / step + 1;
        taken = left <= room ? left : m->extent[d] / step;
        if (taken < 2 || taken > room || left % taken != 0 ||
            (taken < left && m->extent[d] % step != 0))
            return false;
        r->most[d] += (taken - 1) * step;
        if (!put(result, parts, at, taken, step * m->from[d], part, weight))
            return false;
        left /= taken;
        stride *= taken;
        weight *= taken;
    }
    return true;
}

bool mo_tensor_copy_map_compose(const mo_tensor_copy_map *moved,
                                const mo_tensor_access *walk,
                                mo_tensor_access *result,
                                mo_tensor_dim_split *parts)
{
    reach r;

    memset(result, 0, sizeof *result);
    memset(parts, 0, sizeof *parts);
    for (int d = 0; d < walk->rank; d++)
        if (walk->extent[d] < 1 || walk->stride[d] < 0)
            return false;
    if (!begin(moved, walk->offset, result, &r))
        return false;
    for (int d = 0; d < walk->rank; d++)
        if (!walk_one(moved, walk, d, result, parts, &r))
            return false;
    return true;
}
