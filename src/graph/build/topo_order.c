/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topological sort (Kahn 1962) with names as tie-break, so that the order does
 * not depend on the input's.
 */
#include "graph/build/build_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "graph/build/sort.h"

/*
 * Priority queue of small integers: a hierarchical bitmap.
 *
 * A bitmap of the numbers, a bitmap of its nonzero words, and so on up to one
 * word: insertion and removal of the minimum touch one word per level, which
 * is at most five for the largest graph. A binary heap needs some twenty
 * comparisons.
 */

enum { MINSET_LEVELS = 6 }; /* 64^6 exceeds INT_MAX */

typedef struct minset {
    uint64_t
        *levels[MINSET_LEVELS]; /* levels[0] is the bitmap of the numbers */
    int n_levels;
} minset;

enum { WORD = 64 };

/* Makes an empty set for numbers in [0, size), allocated in arena; returns
 * false when memory is exhausted. */
static bool minset_init(minset *set, int size, mo_arena *arena)
{
    size_t bits = (size_t) size;

    set->n_levels = 0;
    do {
        size_t words = bits / WORD + 1;
        uint64_t *level = mo_arena_array(arena, words, sizeof *level);
        if (!level)
            return false;
        set->levels[set->n_levels++] = level;
        bits = words;
    } while (bits > 1);
    return true;
}

static void minset_add(minset *set, int number)
{
    for (int l = 0; l < set->n_levels; l++) {
        uint64_t *word = &set->levels[l][number / WORD];
        bool was_empty = *word == 0;
        *word |= (uint64_t) 1 << (number % WORD);
        if (!was_empty)
            return; /* the levels above have the bit already */
        number /= WORD;
    }
}

/* Removes and returns the smallest number; -1 when the set is empty. */
static int minset_take(minset *set)
{
    int number = 0, taken;

    if (set->levels[set->n_levels - 1][0] == 0)
        return -1;
    for (int l = set->n_levels - 1; l >= 0; l--)
        number = number * WORD + __builtin_ctzll(set->levels[l][number]);
    taken = number;
    for (int l = 0; l < set->n_levels; l++) {
        uint64_t *word = &set->levels[l][number / WORD];

        *word &= ~((uint64_t) 1 << (number % WORD));
        if (*word != 0)
            break;
        number /= WORD;
    }
    return taken;
}

/* Only edges between two ops, or between two constants, constrain the order: a
 * constant never delays an op. */
static bool orders_ops(const mo_builder *b, const mo_edge *edge)
{
    return b->constants[edge->from] == b->constants[edge->to];
}

static int count_ops(const mo_builder *b)
{
    int count = 0;

    for (size_t i = 0; i < b->n_ops; i++)
        count += !b->constants[i];
    return count;
}

/* ready[i] = the first slot at which the op in slot i could stand if slots
 * were ids. Returns false when they cannot be, since an edge goes backward. */
static bool find_earliest_slots(const mo_builder *b, int *ready)
{
    int n_ops = count_ops(b), n = (int) b->n_ops;

    for (int i = 0; i < n; i++) {
        if (b->constants[i] != (i >= n_ops))
            return false;
        ready[i] = i < n_ops ? 0 : n_ops;
    }
    for (size_t e = 0; e < b->n_edges; e++) {
        const mo_edge *edge = &b->edges[e];
        if (!orders_ops(b, edge))
            continue;
        if (edge->from >= edge->to)
            return false;
        if (ready[edge->to] <= edge->from)
            ready[edge->to] = edge->from + 1;
    }
    return true;
}

/*
 * Returns whether the slots are the canonical ids already, as in every file
 * that this program wrote. They are unless some op was passed over for one
 * with a larger name, between the moment it was ready and its slot. The last
 * op before i with a larger name than i is the only candidate, and the stack
 * finds it: it holds the ops that have no larger name behind them so far, the
 * largest at the bottom.
 */
static bool is_canonical(const mo_builder *b, const int *ready, int *stack)
{
    int n = (int) b->n_ops, height = 0;

    for (int i = 0; i < n; i++) {
        const char *name = b->ops[i].name;
        while (height > 0 && strcmp(b->ops[stack[height - 1]].name, name) < 0)
            height--;
        if (height > 0 && stack[height - 1] >= ready[i])
            return false;
        stack[height++] = i;
    }
    return true;
}

/* State of Kahn's algorithm (Kahn 1962). */
struct queue {
    int *n_preds;      /* slot: predecessors not placed yet */
    int *rank;         /* slot: its position by name, ops before constants */
    int *by_rank_slot; /* inverse of rank */
    int *out_start;    /* slot: its edges in out_edges */
    int *out_edges;
    minset ready; /* ranks of the ready slots */
};

static bool allocate_queue(struct queue *q, const mo_builder *b,
                           mo_arena *arena)
{
    q->n_preds = mo_arena_array(arena, b->n_ops, sizeof *q->n_preds);
    q->rank = mo_arena_array(arena, b->n_ops, sizeof *q->rank);
    q->by_rank_slot = mo_arena_array(arena, b->n_ops, sizeof *q->by_rank_slot);
    q->out_start = mo_arena_array(arena, b->n_ops + 1, sizeof *q->out_start);
    q->out_edges = mo_arena_array(arena, b->n_edges, sizeof *q->out_edges);
    return q->n_preds && q->rank && q->by_rank_slot && q->out_start &&
           q->out_edges && minset_init(&q->ready, (int) b->n_ops, arena);
}

static void enqueue_sources(struct queue *q, const mo_builder *b)
{
    int n = (int) b->n_ops;

    mo_sort_edges_by_end(b->edges, MO_EDGE_FROM, NULL, (int) b->n_edges, n,
                         q->out_start, q->out_edges);
    for (size_t e = 0; e < b->n_edges; e++)
        q->n_preds[b->edges[e].to] += orders_ops(b, &b->edges[e]);
    for (int i = 0; i < n; i++)
        if (q->n_preds[i] == 0)
            minset_add(&q->ready, q->rank[i]);
}

/* Kahn's algorithm with the smallest rank first. Ops have smaller ranks than
 * constants and depend on ops only, so all of them are placed before the first
 * constant. Returns the number of placed slots; the others lie on a cycle or
 * behind one, and get -1. */
static int run_kahn(struct queue *q, const mo_builder *b, int *place)
{
    int n_placed = 0, rank;

    for (size_t i = 0; i < b->n_ops; i++)
        place[i] = -1;
    while ((rank = minset_take(&q->ready)) >= 0) {
        int slot = q->by_rank_slot[rank];

        place[slot] = n_placed++;
        for (int i = q->out_start[slot]; i < q->out_start[slot + 1]; i++) {
            const mo_edge *edge = &b->edges[q->out_edges[i]];

            if (orders_ops(b, edge) && --q->n_preds[edge->to] == 0)
                minset_add(&q->ready, q->rank[edge->to]);
        }
    }
    return n_placed;
}

static mo_status sort_ops(const mo_builder *b, int *place, mo_arena *arena,
                          mo_error *err)
{
    struct queue q;
    mo_status status;
    int n = (int) b->n_ops, next_op = 0, next_constant = count_ops(b);

    /* place has no values yet and serves as scratch for the ranks. */
    status = mo_intern_rank_texts(b->names, place, err);
    if (status != MO_OK)
        return status;
    if (!allocate_queue(&q, b, arena))
        return mo_fail_memory(err);
    for (int r = 0; r < n; r++) {
        int slot = place[r];
        q.by_rank_slot[b->constants[slot] ? next_constant++ : next_op++] = slot;
    }
    for (int t = 0; t < n; t++)
        q.rank[q.by_rank_slot[t]] = t;
    enqueue_sources(&q, b);
    if (run_kahn(&q, b, place) < (int) b->n_ops)
        return mo_build_cycle_error(b, place, err);
    return MO_OK;
}

mo_status mo_build_topo_order(const mo_builder *builder, int *place,
                              mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_status status = MO_OK;
    int *stack;

    if (!arena)
        return mo_fail_memory(err);
    stack = mo_arena_array(arena, builder->n_ops, sizeof *stack);
    if (!stack)
        status = mo_fail_memory(err);
    else if (find_earliest_slots(builder, place) &&
             is_canonical(builder, place, stack))
        for (size_t i = 0; i < builder->n_ops; i++)
            place[i] = (int) i;
    else
        status = sort_ops(builder, place, arena, err);
    mo_arena_free(arena);
    return status;
}
