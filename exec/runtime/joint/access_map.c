/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/joint/access_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Bytes without accesses. */
static mo_joint_access_range empty_range(int64_t begin, int64_t end)
{
    mo_joint_access_range range = { .begin = begin, .end = end };

    for (int i = 0; i < MO_JOINT_TRACK_COUNT; i++)
        range.wrote[i] = range.read[i] = MO_JOINT_NONE;
    return range;
}

static mo_status init_ranges(mo_joint_access_map *b, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(b->ranges, b->n, b->room, err);

    if (status == MO_OK)
        b->ranges[b->n++] = empty_range(0, INT64_MAX);
    return status;
}

/* The range that contains a byte. */
static size_t find_range(const mo_joint_access_map *b, int64_t at)
{
    size_t low = 0, high = b->n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (b->ranges[middle].begin <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Splits ranges so that one begins there; *which is its index. */
static mo_status split_at(mo_joint_access_map *b, int64_t at, size_t *which,
                          mo_error *err)
{
    size_t i = find_range(b, at);
    mo_status status;

    *which = i;
    if (b->ranges[i].begin == at)
        return MO_OK;
    status = MO_ARRAY_GROW(b->ranges, b->n, b->room, err);
    if (status != MO_OK)
        return status;
    memmove(&b->ranges[i + 1], &b->ranges[i], (b->n - i) * sizeof *b->ranges);
    b->n++;
    b->ranges[i].end = b->ranges[i + 1].begin = at;
    *which = i + 1;
    return MO_OK;
}

mo_status mo_joint_access_map_split(mo_joint_access_map *bytes, int64_t begin,
                                    int64_t end, mo_joint_access_range **first,
                                    size_t *n, mo_error *err)
{
    size_t from = 0, to = 0;
    mo_status status = bytes->n == 0 ? init_ranges(bytes, err) : MO_OK;

    *first = NULL;
    *n = 0;
    if (status != MO_OK || begin >= end)
        return status;
    status = split_at(bytes, begin, &from, err);
    if (status == MO_OK)
        status = split_at(bytes, end, &to, err);
    if (status != MO_OK)
        return status;
    *first = &bytes->ranges[from];
    *n = to - from;
    return MO_OK;
}

void mo_joint_access_map_merge(mo_joint_access_map *bytes,
                               mo_joint_access_range *first, size_t n)
{
    size_t behind;

    if (n == 0)
        return;
    behind = bytes->n - n - (size_t) (first - bytes->ranges);
    *first = empty_range(first->begin, first[n - 1].end);
    memmove(first + 1, first + n, behind * sizeof *first);
    bytes->n -= n - 1;
}

void mo_joint_access_map_clear(mo_joint_access_map *bytes)
{
    free(bytes->ranges);
    *bytes = (mo_joint_access_map){ 0 };
}
