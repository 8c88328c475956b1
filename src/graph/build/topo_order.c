/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/build/topo_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build/cycle.h"
#include "graph/build/sort.h"
#include "graph/build/minset.h"
#include "graph/build/text_rank.h"

/* Constants never hold up an op: only edges within a kind order anything. */
static bool orders(const mo_builder *b, const mo_edge *edge)
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

/* ready[i] = the first slot at which the op in slot i could stand, if slots
 * were ids.  False when they cannot be, since an edge goes backward. */
static bool find_ready(const mo_builder *b, int *ready)
{
    int n_ops = count_ops(b), n = (int) b->n_ops;

    for (int i = 0; i < n; i++) {
        if (b->constants[i] != (i >= n_ops))
            return false;
        ready[i] = i < n_ops ? 0 : n_ops;
    }
    for (size_t e = 0; e < b->n_edges; e++) {
        const mo_edge *edge = &b->edges[e];
        if (!orders(b, edge))
            continue;
        if (edge->from >= edge->to)
            return false;
        if (ready[edge->to] <= edge->from)
            ready[edge->to] = edge->from + 1;
    }
    return true;
}

/*
 * Are the slots the ids already, as in every file we wrote ourselves?  They are
 * unless an op was passed over for one with a larger name: somewhere between
 * the moment it was ready and its turn.  The last op before i with a larger
 * name than i is the only one to look at, and the stack finds it: it holds the
 * ops that have no larger name behind them so far, the largest at the bottom.
 */
static bool are_in_order(const mo_builder *b, const int *ready, int *stack)
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

static bool came_in_order(const mo_builder *b, int *ready, int *stack)
{
    return find_ready(b, ready) && are_in_order(b, ready, stack);
}

/* Who waits for whom, and in which order those that wait for nobody go. */
struct queue {
    int *waits_for; /* slot: how many ops must still come before it */
    int *turn;      /* slot: its place when nobody waits; ops first */
    int *by_turn;   /* the slot of each turn */
    int *out_start; /* slot: its edges in out_edges */
    int *out_edges;
    mo_minset ready; /* turns */
};

static bool allocate(struct queue *q, const mo_builder *b, mo_arena *arena)
{
    q->waits_for = mo_arena_array(arena, b->n_ops, sizeof *q->waits_for);
    q->turn = mo_arena_array(arena, b->n_ops, sizeof *q->turn);
    q->by_turn = mo_arena_array(arena, b->n_ops, sizeof *q->by_turn);
    q->out_start = mo_arena_array(arena, b->n_ops + 1, sizeof *q->out_start);
    q->out_edges = mo_arena_array(arena, b->n_edges, sizeof *q->out_edges);
    return q->waits_for && q->turn && q->by_turn && q->out_start &&
           q->out_edges && mo_minset_init(&q->ready, (int) b->n_ops, arena);
}

static void take_turns(struct queue *q, const mo_builder *b, const int *by_rank)
{
    int n = (int) b->n_ops, next_op = 0, next_constant = count_ops(b);

    for (int r = 0; r < n; r++) {
        int slot = by_rank[r];
        q->by_turn[b->constants[slot] ? next_constant++ : next_op++] = slot;
    }
    for (int t = 0; t < n; t++)
        q->turn[q->by_turn[t]] = t;
}

static void line_up(struct queue *q, const mo_builder *b)
{
    int n = (int) b->n_ops;

    mo_sort_edges_by_end(b->edges, MO_EDGE_FROM, NULL, (int) b->n_edges, n,
                         q->out_start, q->out_edges);
    for (size_t e = 0; e < b->n_edges; e++)
        q->waits_for[b->edges[e].to] += orders(b, &b->edges[e]);
    for (int i = 0; i < n; i++)
        if (q->waits_for[i] == 0)
            mo_minset_add(&q->ready, q->turn[i]);
}

static void let_go(struct queue *q, const mo_builder *b, int slot)
{
    for (int i = q->out_start[slot]; i < q->out_start[slot + 1]; i++) {
        const mo_edge *edge = &b->edges[q->out_edges[i]];
        if (orders(b, edge) && --q->waits_for[edge->to] == 0)
            mo_minset_add(&q->ready, q->turn[edge->to]);
    }
}

/* Kahn's algorithm.  Ops have the earlier turns and wait for ops only, so none
 * of them is left when the first constant's turn comes.  Returns how many got a
 * place; the others stand on a cycle or behind one, and have -1. */
static int serve(struct queue *q, const mo_builder *b, int *place)
{
    int served = 0, turn;

    for (size_t i = 0; i < b->n_ops; i++)
        place[i] = -1;
    while ((turn = mo_minset_take(&q->ready)) >= 0) {
        place[q->by_turn[turn]] = served++;
        let_go(q, b, q->by_turn[turn]);
    }
    return served;
}

static mo_status sort_ops(const mo_builder *b, int *place, mo_arena *arena,
                          mo_error *err)
{
    struct queue q;
    mo_status status;

    /* place has no values yet; it lends its room to the ranks. */
    status = mo_intern_rank_texts(b->names, place, err);
    if (status != MO_OK)
        return status;
    if (!allocate(&q, b, arena))
        return mo_fail_memory(err);
    take_turns(&q, b, place);
    line_up(&q, b);
    if (serve(&q, b, place) < (int) b->n_ops)
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
    else if (came_in_order(builder, place, stack))
        for (size_t i = 0; i < builder->n_ops; i++)
            place[i] = (int) i;
    else
        status = sort_ops(builder, place, arena, err);
    mo_arena_free(arena);
    return status;
}
