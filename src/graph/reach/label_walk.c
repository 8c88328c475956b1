/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/reach/label_walk.h"

#include <stdlib.h>

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

struct walk {
    mo_interval_labels *labels;
    int number;  /* which of the walks */
    int *path;   /* the ops from a source to where we are */
    int *turned; /* op: how many of its edges were looked at */
    int next_rank;
};

/* The edge an op looks at after as many others: in order in the first walk,
 * backward in the second, and from somewhere on, either way, in the others. */
static int edge_in_turn(const struct walk *w, int op, int turn)
{
    const mo_dag *dag = &w->labels->dag;
    int first = dag->out_start[op], count = mo_dag_out_degree(dag, op);
    uint32_t random =
        mix((uint32_t) op * MO_INTERVAL_LABELS + (uint32_t) w->number);

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

static bool is_left(const mo_interval_label *label)
{
    return label->rank > 0;
}

static void enter(struct walk *w, int op)
{
    mo_interval_label *label = label_of(w, op);

    w->turned[op] = 0;
    label->low = label->tree_low = w->next_rank;
}

static void leave(struct walk *w, int op, int parent)
{
    mo_interval_label *label = label_of(w, op);

    label->rank = w->next_rank++;
    if (parent >= 0 && label->low < label_of(w, parent)->low)
        label_of(w, parent)->low = label->low;
}

/* Looks at the next edge of op; returns an op to enter, or -1. */
static int turn_to_next(struct walk *w, int op)
{
    int to = mo_dag_to(&w->labels->dag, edge_in_turn(w, op, w->turned[op]++));
    const mo_interval_label *label = label_of(w, to);

    if (!is_left(label))
        return to;
    if (label->low < label_of(w, op)->low)
        label_of(w, op)->low = label->low;
    return -1;
}

static void walk_from(struct walk *w, int source)
{
    const mo_dag *dag = &w->labels->dag;
    int length = 0;

    enter(w, source);
    w->path[length++] = source;
    while (length > 0) {
        int op = w->path[length - 1], next = -1;
        if (w->turned[op] < mo_dag_out_degree(dag, op)) {
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

/* An op nothing comes before. */
struct source {
    int op;
    int height; /* edges on the longest path from it */
};

/* The highest first.  Weights that come in halfway through a network are
 * sources, too: if a walk began with them, what lies behind would not be first
 * met through the real input, and searches from there would be long. */
static int compare_sources(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->height != y->height)
        return x->height < y->height ? 1 : -1;
    return (x->op > y->op) - (x->op < y->op);
}

/* height is scratch, one number an op; returns how many sources there are. */
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

/* The second walk goes the other way round: whoever was met early is met late,
 * which tells apart ops that the first could not. */
static void walk_all(struct walk *w, const struct source *sources, int count)
{
    w->next_rank = 1;
    for (int i = 0; i < count; i++)
        walk_from(w, sources[w->number == 1 ? count - 1 - i : i].op);
}

mo_status mo_interval_labels_walk(mo_interval_labels *labels, mo_error *err)
{
    size_t n = (size_t) labels->dag.n + 1;
    struct walk w = { .labels = labels, .path = labels->stack };
    struct source *sources = calloc(n, sizeof *sources);
    mo_status status = MO_OK;
    int count;

    w.turned = calloc(n, sizeof *w.turned);
    if (!sources || !w.turned) {
        status = mo_fail_memory(err);
        goto out;
    }
    count = find_sources(&labels->dag, w.turned, sources);
    qsort(sources, (size_t) count, sizeof *sources, compare_sources);
    for (w.number = 0; w.number < MO_INTERVAL_LABELS; w.number++)
        walk_all(&w, sources, count);
out:
    free(w.turned);
    free(sources);
    return status;
}
