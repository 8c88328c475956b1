/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/schedule/offsets.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"

/*
 * Offset assignment by best fit: one buffer after the other goes into the
 * smallest gap between the placed buffers with overlapping live ranges,
 * or on top of them. The result depends on the order: large ones first leave
 * few holes; by begin is what an allocator would do. A few orders are tried
 * until one meets the lower bound, and with each of them the buffers on top of
 * the arena may be promoted to the front.
 *
 * Overlapping buffers are found in an interval tree over the buffers in order
 * of their begins, which holds the latest end of the placed ones below each
 * node.
 */
typedef struct occupied_range {
    int64_t low, high;
} occupied_range;

/* A buffer that overlaps more goes on top of everything: examining each would
 * take quadratic time. */
enum { MAX_MET = 1024 };

typedef struct packing {
    mo_plan_buffer *blocks;
    const mo_plan_buffer **order; /* in which they are placed */
    int n;
    int leaves;      /* of the tree, a power of two */
    int *latest;     /* by node; that of buffer i is node leaves + i */
    int64_t *offset; /* by buffer, of this attempt */
    int64_t top;
    occupied_range *overlaps; /* overlapping ones of the current buffer */
    int n_met;
    int64_t n_examined; /* overlapping ones of all buffers and attempts */
} packing;

enum { NOT_PLACED = INT_MIN };

static int64_t aligned_size(const mo_plan_buffer *block)
{
    return (block->bytes + MO_PLAN_BUFFER_ALIGN - 1) / MO_PLAN_BUFFER_ALIGN *
           MO_PLAN_BUFFER_ALIGN;
}

static int compare_buffers(const void *a, const void *b)
{
    const mo_plan_buffer *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static int compare_ends(const void *a, const void *b)
{
    const mo_plan_buffer *x = *(const mo_plan_buffer *const *) a;
    const mo_plan_buffer *y = *(const mo_plan_buffer *const *) b;

    return x->end != y->end ? (x->end < y->end ? -1 : 1)
                            : compare_buffers(x, y);
}

static int compare_sizes(const void *a, const void *b)
{
    const mo_plan_buffer *x = *(const mo_plan_buffer *const *) a;
    const mo_plan_buffer *y = *(const mo_plan_buffer *const *) b;

    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1)
                                : compare_buffers(x, y);
}

static double area_of(const mo_plan_buffer *block)
{
    return (double) block->bytes * ((double) block->end - block->begin + 1);
}

static int compare_areas(const void *a, const void *b)
{
    double x = area_of(*(const mo_plan_buffer *const *) a);
    double y = area_of(*(const mo_plan_buffer *const *) b);

    return x != y ? (x > y ? -1 : 1)
                  : compare_buffers(*(const mo_plan_buffer *const *) a,
                                    *(const mo_plan_buffer *const *) b);
}

static int compare_ranges(const void *a, const void *b)
{
    const occupied_range *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

static void sort_order(packing *p, int (*compare)(const void *, const void *))
{
    qsort(p->order, (size_t) p->n, sizeof *p->order, compare);
}

/* Collects the placed buffers that overlap this one among the count from first
 * on, which are those below node. */
static void collect_overlaps(packing *p, const mo_plan_buffer *block, int node,
                             int first, int count)
{
    if (p->latest[node] < block->begin || p->blocks[first].begin > block->end ||
        p->n_met > MAX_MET)
        return;
    if (count == 1) {
        int64_t low = p->offset[first];

        p->overlaps[p->n_met++] =
            (occupied_range){ low, low + aligned_size(&p->blocks[first]) };
        return;
    }
    collect_overlaps(p, block, 2 * node, first, count / 2);
    collect_overlaps(p, block, 2 * node + 1, first + count / 2, count / 2);
}

/* The begin of the smallest gap of size bytes between the overlapping buffers,
 * or the end of the last. */
static int64_t find_gap(packing *p, int64_t size)
{
    int64_t floor = 0, best = -1, best_room = INT64_MAX;

    qsort(p->overlaps, (size_t) p->n_met, sizeof *p->overlaps, compare_ranges);
    for (int i = 0; i < p->n_met; i++) {
        int64_t room = p->overlaps[i].low - floor;

        if (room >= size && room < best_room) {
            best = floor;
            best_room = room;
        }
        if (p->overlaps[i].high > floor)
            floor = p->overlaps[i].high;
    }
    return best >= 0 ? best : floor;
}

/* Allocation order: by begin, then by falling size. */
static int compare_arrivals(const void *a, const void *b)
{
    const mo_plan_buffer *x = *(const mo_plan_buffer *const *) a;
    const mo_plan_buffer *y = *(const mo_plan_buffer *const *) b;

    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
                                : compare_sizes(a, b);
}

/* Places all buffers in the current order, and keeps the result if it is the
 * best so far. */
static void try_current_order(packing *p, mo_plan_arena_size *packed)
{
    p->top = 0;
    for (int node = 0; node < 2 * p->leaves; node++)
        p->latest[node] = NOT_PLACED;
    for (int k = 0; k < p->n; k++) {
        const mo_plan_buffer *block = p->order[k];
        int i = (int) (block - p->blocks);

        p->n_met = 0;
        collect_overlaps(p, block, 1, 0, p->leaves);
        p->n_examined += p->n_met;

        int64_t offset =
            p->n_met > MAX_MET ? p->top : find_gap(p, aligned_size(block));
        int64_t high = offset + aligned_size(&p->blocks[i]);

        p->offset[i] = offset;
        if (high > p->top)
            p->top = high;
        for (int node = p->leaves + i; node > 0; node /= 2)
            if (p->latest[node] < p->blocks[i].end)
                p->latest[node] = p->blocks[i].end;
    }
    if (p->top >= packed->bytes)
        return;
    packed->bytes = p->top;
    for (int i = 0; i < p->n; i++)
        p->blocks[i].offset = p->offset[i];
}

/* Limits on the number of promotions and on the buffers placed for them; on
 * the number of buffers, so that an attempt takes a few milliseconds; and on
 * the overlapping buffers examined, so that all take less than a second where
 * many live throughout, as weights do that are inputs. */
enum {
    MAX_PROMOTIONS = 100,
    MAX_PLACED = 200000,
    MAX_PROMOTED = 5000,
    MAX_EXAMINED = 10000000
};

/* The current order, and others reached from it by promotions. */
static void try_order(packing *p, mo_plan_arena_size *packed)
{
    int most = mo_ablated(MO_ABLATION_offset_promotions) || p->n > MAX_PROMOTED
                   ? 0
                   : mo_min_int(MAX_PLACED / p->n, MAX_PROMOTIONS);

    try_current_order(p, packed);
    for (int k = 0; k < most && packed->bytes > packed->bound_bytes &&
                    p->n_examined < MAX_EXAMINED;
         k++) {
        const mo_plan_buffer *block;
        int top = 0;

        while (p->offset[p->order[top] - p->blocks] +
                   aligned_size(p->order[top]) <
               p->top)
            top++;
        block = p->order[top];
        memmove(p->order + 1, p->order, (size_t) top * sizeof *p->order);
        p->order[0] = block;
        try_current_order(p, packed);
    }
}

static void try_orders(packing *p, mo_plan_arena_size *packed)
{
    static int (*const orders[])(const void *, const void *) = {
        compare_arrivals, compare_areas, compare_sizes
    };
    const size_t n = mo_ablated(MO_ABLATION_offset_orders)
                         ? 1
                         : sizeof orders / sizeof *orders;

    packed->bytes = INT64_MAX;
    for (size_t k = 0; k < n && packed->bytes > packed->bound_bytes; k++) {
        sort_order(p, orders[k]);
        try_order(p, packed);
    }
}

/* All sizes together fit an int64, so that no partial sum overflows. */
static bool sizes_fit(const mo_plan_buffer *blocks, int n)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        if (blocks[i].bytes > INT64_MAX - MO_PLAN_BUFFER_ALIGN ||
            !mo_int64_add(sum, aligned_size(&blocks[i]), &sum))
            return false;
    return true;
}

mo_status mo_plan_assign_offsets(mo_plan_buffer *blocks, int n,
                                 mo_plan_arena_size *packed, mo_error *err)
{
    packing p = { .blocks = blocks, .n = n };
    mo_status status;

    *packed = (mo_plan_arena_size){ 0 };
    if (n == 0)
        return MO_OK;
    if (!sizes_fit(blocks, n))
        return mo_fail(err, MO_E_LIMIT,
                       "the values of one device have more than 2^63 bytes");

    p.leaves = 1;
    while (p.leaves < p.n)
        p.leaves *= 2;
    p.order = calloc((size_t) p.n, sizeof *p.order);
    p.latest = calloc(2 * (size_t) p.leaves, sizeof *p.latest);
    p.offset = calloc((size_t) p.n, sizeof *p.offset);
    p.overlaps = calloc(MAX_MET + 1, sizeof *p.overlaps);
    if (!p.order || !p.latest || !p.offset || !p.overlaps)
        status = mo_fail_memory(err);
    else {
        qsort(p.blocks, (size_t) p.n, sizeof *p.blocks, compare_buffers);
        for (int i = 0; i < p.n; i++)
            p.order[i] = &p.blocks[i];
        status = MO_OK;
    }
    if (status == MO_OK) {
        /* Buffers are in order of their begins; order is that of their ends. */
        int64_t now = 0, most = 0;
        int dropped = 0;

        sort_order(&p, compare_ends);
        for (int i = 0; i < p.n; i++) {
            while (p.order[dropped]->end < p.blocks[i].begin)
                now -= aligned_size(p.order[dropped++]);
            now += aligned_size(&p.blocks[i]);
            if (now > most)
                most = now;
        }
        packed->bound_bytes = most;
        try_orders(&p, packed);
    }
    free(p.overlaps);
    free(p.offset);
    free(p.latest);
    free(p.order);
    return status;
}
