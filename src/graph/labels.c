#include "graph/labels.h"

#include <stdlib.h>
#include <string.h>

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
 * Several walks that turn to the branches in different order leave few pairs
 * undecided.  The labels of a search's steps prune it in turn.  (Yildirim,
 * Chaoji and Zaki call the first part GRAIL.)
 */

/* A fixed mixing of bits (the end of MurmurHash3): any machine walks alike. */
static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= UINT32_C(0x85ebca6b);
    x ^= x >> 13;
    x *= UINT32_C(0xc2b2ae35);
    x ^= x >> 16;
    return x;
}

/* One walk.  The ops on the way from a source to where we are: */
struct walk {
    mo_labels *labels;
    int number; /* which of the walks */
    int *path;
    int *turned; /* op: how many of its edges were looked at */
    int next_rank;
};

/* The edge an op looks at after as many others: in order in the first walk,
 * backward in the second, and from somewhere on, either way, in the others. */
static int edge_in_turn(const struct walk *w, int op, int turn)
{
    const mo_graph *g = w->labels->g;
    int first = g->out_start[op], count = g->out_start[op + 1] - first;
    uint32_t random = mix((uint32_t) op * MO_LABELS + (uint32_t) w->number);

    if (w->number == 0)
        return first + turn;
    if (w->number == 1)
        return first + count - 1 - turn;
    turn = (int) (((uint32_t) turn + (random >> 1)) % (uint32_t) count);
    return first + (random & 1 ? turn : count - 1 - turn);
}

static mo_label *label_of(const struct walk *w, int op)
{
    return &w->labels->ops[op].walks[w->number];
}

static bool is_left(const mo_label *label)
{
    return label->rank > 0;
}

static void enter(struct walk *w, int op)
{
    mo_label *label = label_of(w, op);

    w->turned[op] = 0;
    label->low = label->tree_low = w->next_rank;
}

static void leave(struct walk *w, int op, int parent)
{
    mo_label *label = label_of(w, op);

    label->rank = w->next_rank++;
    if (parent >= 0 && label->low < label_of(w, parent)->low)
        label_of(w, parent)->low = label->low;
}

/* Looks at the next edge of op; returns an op to enter, or -1. */
static int turn_to_next(struct walk *w, int op)
{
    int to = w->labels->g->edges[edge_in_turn(w, op, w->turned[op]++)].to;
    const mo_label *label = label_of(w, to);

    if (!is_left(label))
        return to;
    if (label->low < label_of(w, op)->low)
        label_of(w, op)->low = label->low;
    return -1;
}

static void walk_from(struct walk *w, int source)
{
    const mo_graph *g = w->labels->g;
    int length = 0;

    enter(w, source);
    w->path[length++] = source;
    while (length > 0) {
        int op = w->path[length - 1], next = -1;
        if (w->turned[op] < mo_graph_out_degree(g, op)) {
            next = turn_to_next(w, op);
        } else {
            length--;
            leave(w, op, length > 0 ? w->path[length - 1] : -1);
        }
        if (next >= 0) {
            enter(w, next);
            w->path[length++] = next;
        }
    }
}

static mo_status walk_all(mo_labels *labels, int number, mo_error *err)
{
    const mo_graph *g = labels->g;
    struct walk w = { .labels = labels, .number = number, .next_rank = 1 };

    w.path = labels->stack;
    w.turned = calloc((size_t) g->n_ops + 1, sizeof *w.turned);
    if (!w.turned)
        return mo_fail_memory(err);
    for (int i = 0; i < g->n_ops; i++) {
        int op = number % 2 == 0 ? i : g->n_ops - 1 - i;
        if (mo_graph_in_degree(g, op) == 0)
            walk_from(&w, op);
    }
    free(w.turned);
    return MO_OK;
}

static void find_depths(mo_labels *labels)
{
    const mo_graph *g = labels->g;

    for (int e = 0; e < g->n_edges; e++) {
        int depth = labels->ops[g->edges[e].from].depth + 1;
        int *to_depth = &labels->ops[g->edges[e].to].depth;
        if (*to_depth < depth)
            *to_depth = depth;
    }
}

size_t mo_labels_bytes(int n_ops)
{
    return (size_t) n_ops * (sizeof(mo_op_labels) + sizeof(int));
}

mo_status mo_labels_make(const mo_graph *g, mo_labels *labels, mo_error *err)
{
    mo_status status = MO_OK;

    *labels = (mo_labels){ .g = g };
    labels->ops = calloc((size_t) g->n_ops + 1, sizeof *labels->ops);
    labels->stack = calloc((size_t) g->n_ops + 1, sizeof *labels->stack);
    if (!labels->ops || !labels->stack)
        status = mo_fail_memory(err);
    for (int i = 0; i < MO_LABELS && status == MO_OK; i++)
        status = walk_all(labels, i, err);
    if (status != MO_OK) {
        mo_labels_clear(labels);
        return status;
    }
    find_depths(labels);
    return MO_OK;
}

void mo_labels_clear(mo_labels *labels)
{
    free(labels->stack);
    free(labels->ops);
}

static bool surely_not(const mo_op_labels *a, const mo_op_labels *b)
{
    if (a->depth >= b->depth)
        return true;
    for (int i = 0; i < MO_LABELS; i++)
        if (b->walks[i].low < a->walks[i].low ||
            b->walks[i].rank > a->walks[i].rank)
            return true;
    return false;
}

static bool surely(const mo_op_labels *a, const mo_op_labels *b)
{
    for (int i = 0; i < MO_LABELS; i++)
        if (a->walks[i].tree_low <= b->walks[i].rank &&
            b->walks[i].rank <= a->walks[i].rank)
            return true;
    return false;
}

/* A fresh number no op is stamped with. */
static uint32_t new_stamp(mo_labels *labels)
{
    if (++labels->searches == 0) {
        for (int i = 0; i < labels->g->n_ops; i++)
            labels->ops[i].stamp = 0;
        labels->searches = 1;
    }
    return labels->searches;
}

/* Searches from a, in depth, along whatever may lead to b. */
static bool search(mo_labels *labels, int a, int b)
{
    const mo_graph *g = labels->g;
    const mo_op_labels *target = &labels->ops[b];
    uint32_t stamp = new_stamp(labels);
    int height = 0;

    labels->stack[height++] = a;
    while (height > 0) {
        int op = labels->stack[--height];
        for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++) {
            int to = g->edges[e].to;
            mo_op_labels *step = &labels->ops[to];
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

bool mo_labels_path(mo_labels *labels, int a, int b)
{
    const mo_op_labels *from = &labels->ops[a], *to = &labels->ops[b];

    if (surely(from, to))
        return true;
    return !surely_not(from, to) && search(labels, a, b);
}
