/* SPDX-License-Identifier: Apache-2.0 */
/* Verifier: no two live values of a device overlap in memory. */
#include <stdlib.h>

#include "exec/plan/schedule/liveness.h"
#include "base/minmax.h"
#include "exec/plan/verify/verify_internal.h"

/*
 * Overlap check by a sweep over live ranges in the order they begin; ended
 * ones are removed, and each must find its bytes free:
 *
 *     bytes   |--a--|        |---b---|      live
 *                 |---c---|                 begins: overlaps a
 *
 * Occupied bytes are held in a segment tree (Bentley 1977) over the marks, all
 * offsets where a block begins or ends. A block is recorded at the nodes that
 * it covers as a whole and counted at all nodes above them.
 */
typedef struct block {
    int value;
    mo_plan_live_range life;
    int low, high; /* marks */
} block;

typedef struct node {
    int covers; /* blocks recorded here */
    int inside; /* blocks recorded here or below */
} node;

typedef struct arena {
    const mo_exec_plan *plan;
    block *blocks;      /* those of at least one byte, by begin */
    const block **ends; /* the same, by end */
    int n;
    int64_t *marks; /* sorted, unique */
    int n_marks;
    node *nodes; /* the root is 1; leaf i, from mark i to the next, is leaves +
                    i */
    int leaves;
} arena;

static mo_status check_offset(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v];
    int64_t bytes = mo_tensor_desc_bytes(&value->desc);
    int64_t size = plan->devices[value->device].arena_bytes;

    if (value->offset < plan->devices[value->device].state_bytes ||
        bytes > size || value->offset > size - bytes)
        return mo_fail(err, MO_E_INPUT,
                       "plan: value %d '%.160s' does not lie in the arena of "
                       "its device",
                       v, mo_verify_name(value->name));
    if (value->offset % (int64_t) mo_elem_size(value->desc.elem) != 0)
        return mo_fail(err, MO_E_INPUT,
                       "plan: value %d '%.160s' is not aligned to its element "
                       "type",
                       v, mo_verify_name(value->name));
    return MO_OK;
}

static int64_t low_of(const arena *a, int value)
{
    return a->plan->values[value].offset;
}

static int64_t high_of(const arena *a, int value)
{
    return low_of(a, value) +
           mo_tensor_desc_bytes(&a->plan->values[value].desc);
}

static int compare_begins(const void *a, const void *b)
{
    const block *x = a, *y = b;

    if (x->life.begin != y->life.begin)
        return x->life.begin < y->life.begin ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int compare_ends(const void *a, const void *b)
{
    const block *x = *(const block *const *) a, *y = *(const block *const *) b;

    return (x->life.end > y->life.end) - (x->life.end < y->life.end);
}

static int mark_at(const arena *a, int64_t byte)
{
    const int64_t *found = bsearch(&byte, a->marks, (size_t) a->n_marks,
                                   sizeof byte, mo_compare_i64);

    return (int) (found - a->marks);
}

/* Sorts the blocks and replaces their bounds by marks. */
static void sort_blocks(arena *a)
{
    int n = 0;

    for (int i = 0; i < a->n; i++) {
        a->marks[(size_t) 2 * i] = low_of(a, a->blocks[i].value);
        a->marks[(size_t) 2 * i + 1] = high_of(a, a->blocks[i].value);
    }
    qsort(a->marks, 2 * (size_t) a->n, sizeof *a->marks, mo_compare_i64);
    for (int i = 0; i < 2 * a->n; i++)
        if (n == 0 || a->marks[i] != a->marks[n - 1])
            a->marks[n++] = a->marks[i];
    a->n_marks = n;
    qsort(a->blocks, (size_t) a->n, sizeof *a->blocks, compare_begins);
    for (int i = 0; i < a->n; i++) {
        a->blocks[i].low = mark_at(a, low_of(a, a->blocks[i].value));
        a->blocks[i].high = mark_at(a, high_of(a, a->blocks[i].value));
        a->ends[i] = &a->blocks[i];
    }
    qsort(a->ends, (size_t) a->n, sizeof *a->ends, compare_ends);
}

/* Of the count leaves from first on, below node at. */
static bool is_occupied(const arena *a, const block *b, int at, int first,
                        int count)
{
    const node *it = &a->nodes[at];

    if (b->high <= first || b->low >= first + count || it->inside == 0)
        return false;
    if (it->covers > 0 || (b->low <= first && b->high >= first + count))
        return true;
    return is_occupied(a, b, 2 * at, first, count / 2) ||
           is_occupied(a, b, 2 * at + 1, first + count / 2, count / 2);
}

/* Inserts a block, or with sign -1 removes it. */
static void update_tree(arena *a, const block *b, int sign, int at, int first,
                        int count)
{
    node *it = &a->nodes[at];

    if (b->high <= first || b->low >= first + count)
        return;
    it->inside += sign;
    if (b->low <= first && b->high >= first + count) {
        it->covers += sign;
        return;
    }
    update_tree(a, b, sign, 2 * at, first, count / 2);
    update_tree(a, b, sign, 2 * at + 1, first + count / 2, count / 2);
}

static mo_status sweep_blocks(arena *a, mo_error *err)
{
    int dropped = 0;

    for (int i = 0; i < a->n; i++) {
        const block *b = &a->blocks[i];

        for (; a->ends[dropped]->life.end < b->life.begin; dropped++)
            update_tree(a, a->ends[dropped], -1, 1, 0, a->leaves);
        if (is_occupied(a, b, 1, 0, a->leaves)) {
            /* Reports an overlap; finds the other block. */
            const mo_plan_value *values = a->plan->values;
            const block *other = a->blocks;

            while (other->low >= b->high || b->low >= other->high ||
                   other->life.end < b->life.begin)
                other++;
            return mo_fail(
                err, MO_E_INPUT,
                "plan: device '%.80s', step %d: '%.160s' overwrites "
                "'%.160s', which is still needed",
                mo_verify_name(a->plan->devices[values[b->value].device].id),
                b->life.begin, mo_verify_name(values[b->value].name),
                mo_verify_name(values[other->value].name));
        }
        update_tree(a, b, 1, 1, 0, a->leaves);
    }
    return MO_OK;
}

static mo_status check_blocks(arena *a, mo_error *err)
{
    size_t n = (size_t) a->n;
    mo_status status;

    a->leaves = 1;
    while (a->leaves < 2 * a->n)
        a->leaves *= 2;
    a->ends = calloc(n, sizeof *a->ends);
    a->marks = calloc(2 * n, sizeof *a->marks);
    a->nodes = calloc(2 * (size_t) a->leaves, sizeof *a->nodes);
    if (a->ends && a->marks && a->nodes) {
        sort_blocks(a);
        status = sweep_blocks(a, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(a->nodes);
    free(a->marks);
    free(a->ends);
    return status;
}

static bool has_bytes(const mo_exec_plan *plan, const mo_plan_live_range *lives,
                      int v)
{
    return mo_plan_live_range_is_nonempty(&lives[v]) &&
           mo_tensor_desc_bytes(&plan->values[v].desc) > 0;
}

mo_status mo_verify_memory(const mo_exec_plan *plan, mo_error *err)
{
    block *blocks = calloc((size_t) plan->n_values + 1, sizeof *blocks);
    size_t *end = calloc((size_t) plan->n_devices, sizeof *end);
    mo_plan_live_range *lives = NULL;
    mo_status status = blocks && end ? mo_plan_liveness(plan, &lives, err)
                                     : mo_fail_memory(err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (mo_plan_live_range_is_nonempty(&lives[v]))
            status = check_offset(plan, v, err);
    if (status == MO_OK) {
        size_t first = 0;

        /* Counting sort of the blocks by device: end[d] is the number of
         * blocks on devices below d, hence the index of the first block of d;
         * it is incremented with each block of d, up to the end of d. */
        for (int v = 0; v < plan->n_values; v++)
            if (has_bytes(plan, lives, v) &&
                plan->values[v].device + 1 < plan->n_devices)
                end[plan->values[v].device + 1]++;
        for (int d = 1; d < plan->n_devices; d++)
            end[d] += end[d - 1];
        for (int v = 0; v < plan->n_values; v++)
            if (has_bytes(plan, lives, v))
                blocks[end[plan->values[v].device]++] =
                    (block){ .value = v, .life = lives[v] };
        for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
            arena a = { .plan = plan,
                        .blocks = blocks + first,
                        .n = (int) (end[d] - first) };

            if (a.n > 0)
                status = check_blocks(&a, err);
            first = end[d];
        }
    }
    free(lives);
    free(end);
    free(blocks);
    return status;
}
