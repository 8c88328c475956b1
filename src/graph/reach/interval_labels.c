/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/reach/interval_labels.h"

#include <stdlib.h>

#include "graph/reach/label_walk.h"

/*
 * A walk in depth through the whole graph gives each op a rank when it is left
 * for good, after all that it reaches.  Then
 *
 *   - what an op reaches has ranks in [low, rank], so whoever lies outside, or
 *     whose own interval sticks out, is not reached;
 *   - what was first met through it has exactly the ranks [tree_low, rank], so
 *     whoever lies inside is reached.
 *
 *          a 5          low / tree_low / rank
 *         / \           a: 1 1 5    b: 1 1 3    c: 1 4 4
 *      3 b   c 4        b does not reach c (4 is not in [1, 3]);
 *       / \ /           c may reach d (1 is in [1, 4], but not in [4, 4]): a
 *    2 e   d 1          search has to look.
 *
 * Several walks that turn to the branches in different order (walk.c) leave few
 * pairs undecided.  The labels of a search's steps prune it in turn. (Yildirim,
 * Chaoji and Zaki call the first part GRAIL.)
 */

static void find_depths(mo_interval_labels *labels)
{
    const mo_dag *dag = &labels->dag;

    for (int op = 0; op < dag->n; op++) {
        int depth = labels->ops[op].depth + 1;
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++) {
            mo_op_interval_labels *to = &labels->ops[mo_dag_to(dag, e)];
            if (to->depth < depth)
                to->depth = depth;
        }
    }
}

size_t mo_interval_labels_bytes(int n_ops)
{
    return (size_t) n_ops * (sizeof(mo_op_interval_labels) + sizeof(int));
}

mo_status mo_interval_labels_make(const mo_dag *dag, mo_interval_labels *labels,
                                  mo_error *err)
{
    mo_status status = MO_OK;

    *labels = (mo_interval_labels){ .dag = *dag };
    labels->ops = calloc((size_t) dag->n + 1, sizeof *labels->ops);
    labels->stack = calloc((size_t) dag->n + 1, sizeof *labels->stack);
    if (!labels->ops || !labels->stack)
        status = mo_fail_memory(err);
    else
        status = mo_interval_labels_walk(labels, err);
    if (status != MO_OK) {
        mo_interval_labels_clear(labels);
        return status;
    }
    find_depths(labels);
    return MO_OK;
}

void mo_interval_labels_clear(mo_interval_labels *labels)
{
    free(labels->stack);
    free(labels->ops);
}

static bool surely_not(const mo_op_interval_labels *a,
                       const mo_op_interval_labels *b)
{
    if (a->depth >= b->depth)
        return true;
    for (int i = 0; i < MO_INTERVAL_LABELS; i++)
        if (b->walks[i].low < a->walks[i].low ||
            b->walks[i].rank > a->walks[i].rank)
            return true;
    return false;
}

static bool surely(const mo_op_interval_labels *a,
                   const mo_op_interval_labels *b)
{
    for (int i = 0; i < MO_INTERVAL_LABELS; i++)
        if (a->walks[i].tree_low <= b->walks[i].rank &&
            b->walks[i].rank <= a->walks[i].rank)
            return true;
    return false;
}

/* A fresh number no op is stamped with. */
static uint32_t new_stamp(mo_interval_labels *labels)
{
    if (++labels->searches == 0) {
        for (int i = 0; i < labels->dag.n; i++)
            labels->ops[i].stamp = 0;
        labels->searches = 1;
    }
    return labels->searches;
}

/* Searches from a, in depth, along whatever may lead to b. */
static bool search(mo_interval_labels *labels, int a, int b)
{
    const mo_dag *dag = &labels->dag;
    const mo_op_interval_labels *target = &labels->ops[b];
    uint32_t stamp = new_stamp(labels);
    int height = 0;

    labels->stack[height++] = a;
    while (height > 0) {
        int op = labels->stack[--height];
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++) {
            int to = mo_dag_to(dag, e);
            mo_op_interval_labels *step = &labels->ops[to];
            if (surely(step, target))
                return true;
            if (step->stamp == stamp || surely_not(step, target))
                continue;
            step->stamp = stamp;
            labels->stack[height++] = to;
        }
    }
    return false;
}

bool mo_interval_labels_path(mo_interval_labels *labels, int a, int b)
{
    const mo_op_interval_labels *from = &labels->ops[a], *to = &labels->ops[b];

    if (surely(from, to))
        return true;
    return !surely_not(from, to) && search(labels, a, b);
}
