/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reachability index, selected by memory: bit matrix or interval labels.
 */
#include "graph/reach.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "graph/dag.h"

/* Transitive closure of a DAG as a bit matrix. */

typedef struct bit_matrix {
    uint64_t *words;
    size_t row_words; /* words in the first row, which is the longest */
    size_t bytes;
} bit_matrix;

/*
 * Upper triangular bit matrix: paths go from smaller ids to larger ones, so
 * row i starts with the word that holds bit i.
 *
 *     ids     0..63    64..127  128..191
 *     row 0   [      ] [      ] [      ]
 *     ...
 *     row 64           [      ] [      ]     64 rows of a length, then 64 one
 *     ...                                    word shorter
 *     row 128                   [      ]
 */
enum { WORD = 64 };

static size_t words_for(int n_ops)
{
    return ((size_t) n_ops + WORD - 1) / WORD;
}

/* Returns the size in bytes of the closure of n_ops ops; SIZE_MAX when it
 * exceeds a size_t. */
static size_t closure_bytes(int n_ops)
{
    size_t n = words_for(n_ops), words, bytes;

    if (!mo_size_mul(n, n + 1, &words) ||
        !mo_size_mul(words / 2, WORD * sizeof(uint64_t), &bytes))
        return SIZE_MAX;
    return bytes;
}

static uint64_t *row_of(const bit_matrix *c, int op)
{
    size_t block = (size_t) op / WORD;
    size_t above = block * c->row_words - block * (block - 1) / 2;

    return c->words + above * WORD +
           (size_t) op % WORD * (c->row_words - block);
}

static uint64_t bit_of(int op)
{
    return (uint64_t) 1 << op % WORD;
}

/* from reaches whatever to reaches: ORs the row of to into that of from. */
static void add_row(const bit_matrix *c, int from, int to)
{
    size_t count = c->row_words - (size_t) to / WORD;
    const uint64_t *restrict source = row_of(c, to);
    uint64_t *restrict target = row_of(c, from) + (to / WORD - from / WORD);

    for (size_t i = 0; i < count; i++)
        target[i] |= source[i];
}

/* Returns whether there is a path from a to b; requires a <= b. */
static bool closure_path(const bit_matrix *closure, int a, int b)
{
    assert(a <= b);
    return row_of(closure, a)[b / WORD - a / WORD] & bit_of(b);
}

/* Computes the closure of dag. The caller frees closure->words with free().
 * Returns MO_OK or MO_E_MEMORY. */
static mo_status closure_make(const mo_dag *dag, bit_matrix *closure,
                              mo_error *err)
{
    size_t bytes = closure_bytes(dag->n);

    if (bytes == SIZE_MAX)
        return mo_fail_memory(err);
    closure->words = calloc(bytes / sizeof(uint64_t) + 1, sizeof(uint64_t));
    if (!closure->words)
        return mo_fail_memory(err);
    closure->row_words = words_for(dag->n);
    closure->bytes = bytes;
    for (int op = dag->n - 1; op >= 0; op--) {
        /* Rows of larger ids are complete. A successor that an earlier one
         * reaches adds nothing: in a real network that is every edge that skips
         * a layer. */
        row_of(closure, op)[0] |= bit_of(op);
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++)
            if (!closure_path(closure, op, mo_dag_to(dag, e)))
                add_row(closure, op, mo_dag_to(dag, e));
    }
    return MO_OK;
}

/*
 * Reachability by interval labels (GRAIL) and, where they
 * do not decide, a pruned search.
 */

/* Label of an op from one depth-first traversal of the whole graph. */
typedef struct interval_label {
    int low;      /* smallest rank among all that it reaches */
    int tree_low; /* smallest rank among its descendants in the traversal tree
                   */
    int rank;     /* its postorder rank, from 1 */
} interval_label;

enum { N_LABELS = 3 };

typedef struct op_labels {
    interval_label walks[N_LABELS];
    int depth;      /* edges on the longest path to it */
    uint32_t stamp; /* of the last search that visited it */
} op_labels;

typedef struct interval_labels {
    mo_dag dag;
    op_labels *ops;
    int *stack;
    uint32_t searches;
} interval_labels;

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
    interval_labels *labels;
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
    uint32_t random = mix_bits((uint32_t) op * N_LABELS + (uint32_t) w->number);

    if (w->number == 0)
        return first + turn;
    if (w->number == 1)
        return first + count - 1 - turn;
    turn = (int) (((uint32_t) turn + (random >> 1)) % (uint32_t) count);
    return first + (random & 1 ? turn : count - 1 - turn);
}

static interval_label *label_of(const struct walk *w, int op)
{
    return &w->labels->ops[op].walks[w->number];
}

static void enter_op(struct walk *w, int op)
{
    interval_label *label = label_of(w, op);

    w->edges_followed[op] = 0;
    label->low = label->tree_low = w->next_rank;
}

/* Follows the next edge of op; returns an op to enter, or -1. */
static int follow_next_edge(struct walk *w, int op)
{
    int to = mo_dag_to(&w->labels->dag,
                       nth_edge_of_walk(w, op, w->edges_followed[op]++));
    const interval_label *label = label_of(w, to);

    if (label->rank <= 0)
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
            interval_label *label = label_of(w, op);
            int parent = --length > 0 ? w->path[length - 1] : -1;

            label->rank = w->next_rank++;
            if (parent >= 0 && label->low < label_of(w, parent)->low)
                label_of(w, parent)->low = label->low;
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

static mo_status label_all_ops(interval_labels *labels, mo_error *err)
{
    size_t n = (size_t) labels->dag.n + 1;
    struct walk w = { .labels = labels, .path = labels->stack };
    struct source *sources = calloc(n, sizeof *sources);
    mo_status status = MO_OK;
    int count;
    const mo_dag *dag = &labels->dag;
    int *height; /* scratch, one int per op */

    w.edges_followed = calloc(n, sizeof *w.edges_followed);
    if (!sources || !w.edges_followed) {
        status = mo_fail_memory(err);
        goto out;
    }
    height = w.edges_followed;
    count = 0;
    for (int op = dag->n - 1; op >= 0; op--) {
        height[op] = 0;
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++)
            if (height[op] <= height[mo_dag_to(dag, e)])
                height[op] = height[mo_dag_to(dag, e)] + 1;
        if (mo_dag_in_degree(dag, op) == 0)
            sources[count++] = (struct source){ op, height[op] };
    }
    qsort(sources, (size_t) count, sizeof *sources, compare_sources);
    for (w.number = 0; w.number < N_LABELS; w.number++) {
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

static void compute_depths(interval_labels *labels)
{
    const mo_dag *dag = &labels->dag;

    for (int op = 0; op < dag->n; op++) {
        int depth = labels->ops[op].depth + 1;
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++) {
            op_labels *to = &labels->ops[mo_dag_to(dag, e)];
            if (to->depth < depth)
                to->depth = depth;
        }
    }
}

static void labels_clear(interval_labels *labels)
{
    free(labels->stack);
    free(labels->ops);
}

/* Computes the labels of dag, whose arrays must outlive them. The caller frees
 * them with labels_clear(). Returns MO_OK or MO_E_MEMORY. */
static mo_status labels_make(const mo_dag *dag, interval_labels *labels,
                             mo_error *err)
{
    mo_status status = MO_OK;

    *labels = (interval_labels){ .dag = *dag };
    labels->ops = calloc((size_t) dag->n + 1, sizeof *labels->ops);
    labels->stack = calloc((size_t) dag->n + 1, sizeof *labels->stack);
    if (!labels->ops || !labels->stack)
        status = mo_fail_memory(err);
    else
        status = label_all_ops(labels, err);
    if (status != MO_OK) {
        labels_clear(labels);
        return status;
    }
    compute_depths(labels);
    return MO_OK;
}

static bool labels_refute_path(const op_labels *a, const op_labels *b)
{
    if (a->depth >= b->depth)
        return true;
    for (int i = 0; i < N_LABELS; i++)
        if (b->walks[i].low < a->walks[i].low ||
            b->walks[i].rank > a->walks[i].rank)
            return true;
    return false;
}

static bool labels_prove_path(const op_labels *a, const op_labels *b)
{
    for (int i = 0; i < N_LABELS; i++)
        if (a->walks[i].tree_low <= b->walks[i].rank &&
            b->walks[i].rank <= a->walks[i].rank)
            return true;
    return false;
}

/* Depth-first search from a along all ops that may reach b. */
static bool search_path(interval_labels *labels, int a, int b)
{
    const mo_dag *dag = &labels->dag;
    const op_labels *target = &labels->ops[b];
    uint32_t stamp; /* that no op carries */
    int height = 0;

    if (++labels->searches == 0) {
        for (int i = 0; i < labels->dag.n; i++)
            labels->ops[i].stamp = 0;
        labels->searches = 1;
    }
    stamp = labels->searches;

    labels->stack[height++] = a;
    while (height > 0) {
        int op = labels->stack[--height];
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++) {
            int to = mo_dag_to(dag, e);
            op_labels *step = &labels->ops[to];
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

struct mo_dag_reach {
    int n_ops;
    bool has_closure; /* else labels */
    bit_matrix closure;
    interval_labels labels;
};

mo_status mo_dag_reach_new(const mo_dag *dag, size_t max_bytes,
                           mo_dag_reach **reach, mo_error *err)
{
    mo_dag_reach *r = calloc(1, sizeof *r);
    mo_status status;

    if (!r)
        return mo_fail_memory(err);
    r->n_ops = dag->n;
    r->has_closure = closure_bytes(dag->n) <= max_bytes;
    status = r->has_closure ? closure_make(dag, &r->closure, err)
                            : labels_make(dag, &r->labels, err);
    if (status != MO_OK) {
        free(r);
        return status;
    }
    *reach = r;
    return MO_OK;
}

void mo_dag_reach_free(mo_dag_reach *reach)
{
    if (!reach)
        return;
    free(reach->closure.words);
    labels_clear(&reach->labels);
    free(reach);
}

bool mo_dag_reach_path(mo_dag_reach *reach, int a, int b)
{
    const op_labels *from, *to;

    assert(a >= 0 && a < reach->n_ops && b >= 0 && b < reach->n_ops);
    if (a >= b)
        return a == b; /* ids are topological */
    if (reach->has_closure)
        return closure_path(&reach->closure, a, b);
    from = &reach->labels.ops[a];
    to = &reach->labels.ops[b];
    if (labels_prove_path(from, to))
        return true;
    return !labels_refute_path(from, to) && search_path(&reach->labels, a, b);
}

bool mo_dag_reach_incomparable(mo_dag_reach *reach, int a, int b)
{
    return a < b ? !mo_dag_reach_path(reach, a, b)
                 : !mo_dag_reach_path(reach, b, a);
}

size_t mo_dag_reach_bytes(const mo_dag_reach *reach)
{
    return sizeof *reach +
           (reach->has_closure
                ? reach->closure.bytes
                : (size_t) reach->n_ops * (sizeof(op_labels) + sizeof(int)));
}
