/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/rounding.h"

#include <stdlib.h>

/*
 * The ways of a class, one after the other, divide its branches by their
 * weights; a branch goes the way that a point of it, such as its middle, falls
 * into:
 *
 *     way     |---- 1 ----|-- 2 --|------- 3 -------|
 *     branch  |  0  |  1  |  2  |  3  |  4  |  5  |
 *
 * Equals within a branch are divided the same way, each by itself, so that
 * branches of many equal parts do not all go one way.
 */

/* The way that has the part-th of all weight. */
static const mo_cg_column *way_at(const mo_cg_column_pool *pool, int class,
                                  double part)
{
    const mo_cg_column *last = NULL;
    double total = 0, sum = 0;

    for (size_t i = 0; i < pool->n; i++)
        if (pool->patterns[i]->class == class)
            total += pool->patterns[i]->weight;
    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->patterns[i];

        if (p->class != class || p->weight <= 0)
            continue;
        last = p;
        sum += p->weight;
        if (sum >= part * total)
            break;
    }
    return last;
}

typedef struct suggestion {
    const mo_cg_problem *c;
    double point;         /* of a branch, from 0 to 1 */
    int first_op, *place; /* of ops in the segment: place[op - first_op] */
    int *device;
    int64_t *start_ns;
} suggestion;

/* Op j of a branch; equal ones that it has before it in the branch: seen. */
static bool give(const suggestion *s, const mo_cg_column_pool *pool, int class,
                 int branch, int j, int seen)
{
    const mo_cg_tree *tree = s->c->tree;
    const mo_forkjoin_class *of = &s->c->fork->classes[class];
    int node = tree->node_of[tree->start[class] + j];
    int at = s->place[of->members[branch * of->n + j] - s->first_op];
    double equals = (double) of->count * tree->nodes[node].total;
    double number = (double) branch * tree->nodes[node].total + seen;
    const mo_cg_column *p = way_at(pool, class, (number + s->point) / equals);

    if (!p)
        return false;
    s->device[at] = p->device[node - tree->root[class]];
    s->start_ns[at] = p->start[node - tree->root[class]] / s->c->cells;
    return true;
}

static bool give_branch(const suggestion *s, const mo_cg_column_pool *pool,
                        int class, int branch, int *seen)
{
    const mo_cg_tree *tree = s->c->tree;
    const mo_forkjoin_class *of = &s->c->fork->classes[class];

    for (int i = 0; i < tree->n; i++)
        seen[i] = 0;
    for (int j = 0; j < of->n; j++)
        if (!give(s, pool, class, branch, j,
                  seen[tree->node_of[tree->start[class] + j]]++))
            return false;
    return true;
}

static bool give_all(const suggestion *s, const mo_cg_column_pool *pool,
                     int *seen)
{
    for (int i = 0; i < s->c->fork->n_classes; i++)
        for (int branch = 0; branch < s->c->fork->classes[i].count; branch++)
            if (!give_branch(s, pool, i, branch, seen))
                return false;
    return true;
}

static void find_range(const mo_bound_segment *segment, int *first, int *last)
{
    *first = *last = segment->ops[0];
    for (int i = 1; i < segment->n; i++) {
        *first = segment->ops[i] < *first ? segment->ops[i] : *first;
        *last = segment->ops[i] > *last ? segment->ops[i] : *last;
    }
}

mo_status mo_cg_round_columns(const mo_cg_problem *c,
                              const mo_cg_column_pool *pool, double point,
                              int *device, int64_t *start_ns, bool *suggested,
                              mo_error *err)
{
    const mo_bound_segment *segment = &c->fork->segment;
    suggestion s = {
        .c = c, .point = point, .device = device, .start_ns = start_ns
    };
    int last, *seen = calloc((size_t) c->n_nodes + 1, sizeof *seen);

    find_range(segment, &s.first_op, &last);
    s.place = calloc((size_t) (last - s.first_op) + 1, sizeof *s.place);
    if (!seen || !s.place) {
        free(seen);
        free(s.place);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < segment->n; i++)
        s.place[segment->ops[i] - s.first_op] = i;
    *suggested = give_all(&s, pool, seen);
    free(seen);
    free(s.place);
    return MO_OK;
}
