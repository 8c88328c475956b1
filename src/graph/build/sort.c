/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/build/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int end_of(const mo_edge *edge, mo_edge_end end)
{
    return end == MO_EDGE_FROM ? edge->from : edge->to;
}

void mo_sort_prefix_sum(int *start, int n)
{
    for (int i = 0; i < n; i++)
        start[i + 1] += start[i];
}

void mo_sort_edges_by_end(const mo_edge *edges, mo_edge_end end, const int *in,
                          int count, int n_ends, int *start, int *out)
{
    for (int i = 0; i < count; i++)
        start[end_of(&edges[in ? in[i] : i], end) + 1]++;
    mo_sort_prefix_sum(start, n_ends);

    /* start[i] serves as the cursor of group i and ends where i + 1 begins. */
    for (int i = 0; i < count; i++) {
        int number = in ? in[i] : i;
        out[start[end_of(&edges[number], end)]++] = number;
    }
    memmove(&start[1], &start[0], (size_t) n_ends * sizeof *start);
    start[0] = 0;
}

void mo_sort_nearly_sorted(void *items, size_t count, size_t size,
                           int (*compare)(const void *, const void *))
{
    const char *at = items;

    for (size_t i = 1; i < count; i++, at += size)
        if (compare(at, at + size) > 0) {
            qsort(items, count, size, compare);
            return;
        }
}

static void swap_items(char *a, char *b, size_t size)
{
    char kept[256];

    assert(size <= sizeof kept);
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

void mo_sort_permute(void *items, int count, size_t size, int *place)
{
    char *base = items;

    for (int i = 0; i < count; i++)
        while (place[i] != i) {
            int to = place[i];
            swap_items(base + (size_t) i * size, base + (size_t) to * size,
                       size);
            place[i] = place[to];
            place[to] = to;
        }
}
