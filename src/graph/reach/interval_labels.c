/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/reach/interval_labels.h"

#include <stdlib.h>

/*
 * Interval labels of depth-first traversals (GRAIL: Yildirim, Chaoji and Zaki,
 * 2010, is the first rule below). A traversal of the whole graph gives each op
 * a postorder rank, after all that it reaches. Then
 *
 * - all that an op reaches has ranks in [low, rank], so an op outside, or one
 *   whose own interval sticks out, is not reached;
 * - its descendants in the traversal tree have exactly the ranks
 *   [tree_low, rank], so an op inside is reached.
 *
 *          a 5          low / tree_low / rank
 *         / \           a: 1 1 5    b: 1 1 3    c: 1 4 4
 *      3 b   c 4        b does not reach c (4 is not in [1, 3]);
 *       / \ /           c may reach d (1 is in [1, 4], but not in [4, 4]): a
 *    2 e   d 1          search has to decide.
 *
 * Several traversals that visit branches in different orders leave few pairs
 * undecided. The labels of the ops met in a search prune it in turn.
 */

/* The finalizer of MurmurHash3: a fixed mixing of bits, so that the traversals
 * are the same on every machine. */
static uint32_t mix_bits(uint32_t x)
{
    x ^= x >> 16;
    x *= UINT32_C(0x85ebca6b);
    x ^= x >> 13;
    x *= UINT32_C(0xc2b2ae35);
    x ^= x >> 16;
    return x;
}

struct walk {
    mo_interval_labels *labels;
    int number;          /* index of the traversal */
    int *path;           /* the ops from a source to the current one */
    int *edges_followed; /* op: number of its edges followed so far */
    int next_rank;
};

/* Returns the edge of op to follow after `turn` others: ascending in the first
 * traversal, descending in the second, and from a pseudo-random start in a
 * pseudo-random direction in the others. */
static int nth_edge_of_walk(const struct walk *w, int op, int turn)
{
    const mo_dag *dag = &w->labels->dag;
    int first = dag->out_start[op], count = mo_dag_out_degree(dag, op);
    uint32_t random =
        mix_bits((uint32_t) op * MO_INTERVAL_LABELS + (uint32_t) w->number);

    if (w->number == 0)
        return first + turn;
    if (w->number == 1)
        return first + count - 1 - turn;
    turn = (int) (((uint32_t) turn + (random >> 1)) % (uint32_t) count);
    return first + (random & 1 ? turn : count - 1 - turn);
}

static mo_interval_label *label_of(const struct walk *w, int op)
{
    return &w->labels->ops[op].walks[w->number];
}

static bool has_rank(const mo_interval_label *label)
{
    return label->rank > 0;
}

static void enter_op(struct walk *w, int op)
{
    mo_interval_label *label = label_of(w, op);

    w->edges_followed[op] = 0;
    label->low = label->tree_low = w->next_rank;
}

static void leave_op(struct walk *w, int op, int parent)
{
    mo_interval_label *label = label_of(w, op);

    label->rank = w->next_rank++;
    if (parent >= 0 && label->low < label_of(w, parent)->low)
        label_of(w, parent)->low = label->low;
}

/* Follows the next edge of op; returns an op to enter, or -1. */
static int follow_next_edge(struct walk *w, int op)
{
    int to = mo_dag_to(&w->labels->dag,
                       nth_edge_of_walk(w, op, w->edges_followed[op]++));
    const mo_interval_label *label = label_of(w, to);

    if (!has_rank(label))
        return to;
    if (label->low < label_of(w, op)->low)
        label_of(w, op)->low = label->low;
    return -1;
}

static void walk_from_source(struct walk *w, int source)
{
    const mo_dag *dag = &w->labels->dag;
    int length = 0;

    enter_op(w, source);
    w->path[length++] = source;
    while (length > 0) {
        int op = w->path[length - 1], next = -1;
        if (w->edges_followed[op] < mo_dag_out_degree(dag, op)) {
            next = follow_next_edge(w, op);
        } else {
            length--;
            leave_op(w, op, length > 0 ? w->path[length - 1] : -1);
        }
        if (next >= 0) {
            enter_op(w, next);
            w->path[length++] = next;
        }
    }
}

/* An op without predecessors. */
struct source {
    int op;
    int height; /* edges on the longest path from it */
};

/* Highest first. Weights that enter halfway through a network are sources,
 * too: if a traversal began with them, the ops behind would not be descendants
 * of the real input in the traversal tree, and searches from there would be
 * long. */
static int compare_sources(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->height != y->height)
        return x->height < y->height ? 1 : -1;
    return (x->op > y->op) - (x->op < y->op);
}

/* height is scratch, one int per op; returns the number of sources. */
static int find_sources(const mo_dag *dag, int *height, struct source *sources)
{
    int count = 0;

    for (int op = dag->n - 1; op >= 0; op--) {
        height[op] = 0;
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++)
            if (height[op] <= height[mo_dag_to(dag, e)])
                height[op] = height[mo_dag_to(dag, e)] + 1;
        if (mo_dag_in_degree(dag, op) == 0)
            sources[count++] = (struct source){ op, height[op] };
    }
    return count;
}

static mo_status label_all_ops(mo_interval_labels *labels, mo_error *err)
{
    size_t n = (size_t) labels->dag.n + 1;
    struct walk w = { .labels = labels, .path = labels->stack };
    struct source *sources = calloc(n, sizeof *sources);
    mo_status status = MO_OK;
    int count;

    w.edges_followed = calloc(n, sizeof *w.edges_followed);
    if (!sources || !w.edges_followed) {
        status = mo_fail_memory(err);
        goto out;
    }
    count = find_sources(&labels->dag, w.edges_followed, sources);
    qsort(sources, (size_t) count, sizeof *sources, compare_sources);
    for (w.number = 0; w.number < MO_INTERVAL_LABELS; w.number++) {
        /* The second traversal takes the sources in reverse, so that ops with
         * early ranks in the first get late ones: that separates pairs that the
         * first could not. */
        w.next_rank = 1;
        for (int i = 0; i < count; i++)
            walk_from_source(&w, sources[w.number == 1 ? count - 1 - i : i].op);
    }
out:
    free(w.edges_followed);
    free(sources);
    return status;
}

static void compute_depths(mo_interval_labels *labels)
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
        status = label_all_ops(labels, err);
    if (status != MO_OK) {
        mo_interval_labels_clear(labels);
        return status;
    }
    compute_depths(labels);
    return MO_OK;
}

void mo_interval_labels_clear(mo_interval_labels *labels)
{
    free(labels->stack);
    free(labels->ops);
}

static bool labels_refute_path(const mo_op_interval_labels *a,
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

static bool labels_prove_path(const mo_op_interval_labels *a,
                              const mo_op_interval_labels *b)
{
    for (int i = 0; i < MO_INTERVAL_LABELS; i++)
        if (a->walks[i].tree_low <= b->walks[i].rank &&
            b->walks[i].rank <= a->walks[i].rank)
            return true;
    return false;
}

/* Returns a stamp that no op carries. */
static uint32_t new_stamp(mo_interval_labels *labels)
{
    if (++labels->searches == 0) {
        for (int i = 0; i < labels->dag.n; i++)
            labels->ops[i].stamp = 0;
        labels->searches = 1;
    }
    return labels->searches;
}

/* Depth-first search from a along all ops that may reach b. */
static bool search_path(mo_interval_labels *labels, int a, int b)
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
            if (labels_prove_path(step, target))
                return true;
            if (step->stamp == stamp || labels_refute_path(step, target))
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

    if (labels_prove_path(from, to))
        return true;
    return !labels_refute_path(from, to) && search_path(labels, a, b);
}
