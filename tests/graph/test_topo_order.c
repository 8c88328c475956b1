/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of mo_build_topo_order and of the sorting in mo_builder_finish: a
 * graph depends on its content, not on the order of its definition. */
#include "graph/build/build_internal.h"

#include <string.h>

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static const struct {
    const char *graph, *order;
} orders[] = {
    { "", "" },
    { "b; a; c", "a b c" },     /* by name */
    { "c -> b -> a", "c b a" }, /* edges come first */
    { "b -> a; c", "b a c" },   /* as soon as ready */
    { "z -> a; b -> y", "b y z a" },
    { "m -> a; b", "b m a" },
    { "B; a; A; b", "A B a b" }, /* bytes, no locale */
    { "x10; x9; x1", "x1 x10 x9" },
    { "\xc3\xa9; z", "z \xc3\xa9" }, /* unsigned bytes */
    { "b; a\xc3\xa9", "a\xc3\xa9 b" },
    { "12345678b; 12345678; 12345678a; 1234567", "1234567 12345678 12345678a "
                                                 "12345678b" },
    { "$z; $a -> $b; op; $y -> x", "op x a b y z" }, /* constants last */
    { "x; $y; $a; $b -> $a", "x b a y" },
};

START_TEST(ops_are_numbered_by_edges_and_then_by_name)
{
    mo_graph *g = graph_of(orders[_i].graph);
    int ids[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

    ck_assert_int_le(g->n_ops + g->n_constants, COUNT(ids));
    ck_assert_str_eq(names_of(g, ids, g->n_ops + g->n_constants),
                     orders[_i].order);
    mo_graph_free(g);
}
END_TEST

/* Returns whether id has the smallest name among the ops with inputs that all
 * come before it. */
static bool is_next(const mo_graph *g, int id)
{
    for (int later = id + 1; later < g->n_ops; later++) {
        bool is_ready = true;
        for (int i = g->in_start[later]; i < g->in_start[later + 1]; i++)
            is_ready &= g->edges[g->in_edges[i]].from < id;
        if (is_ready && strcmp(g->ops[later].name, g->ops[id].name) < 0)
            return false;
    }
    return true;
}

START_TEST(numbers_agree_with_their_definition)
{
    mo_graph *g = random_graph((unsigned) _i, _i % 40);

    for (int id = 0; id < g->n_ops; id++)
        ck_assert_msg(is_next(g, id), "seed %d, op %d", _i, id);
    mo_graph_free(g);
}
END_TEST

static bool same_texts(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_ops(const mo_graph *a, const mo_graph *b)
{
    for (int i = 0; i < a->n_ops + a->n_constants; i++) {
        const mo_op *x = &a->ops[i], *y = &b->ops[i];
        if (!same_texts(x->name, y->name) || !same_texts(x->type, y->type) ||
            x->flops != y->flops || x->memory_bytes != y->memory_bytes)
            return false;
    }
    return true;
}

static bool same_edge(const mo_edge *a, const mo_edge *b)
{
    return a->from == b->from && a->to == b->to && a->tensor == b->tensor &&
           a->dst_port == b->dst_port && a->bytes == b->bytes;
}

static bool same_edges(const mo_graph *a, const mo_graph *b)
{
    for (int e = 0; e < a->n_edges; e++)
        if (!same_edge(&a->edges[e], &b->edges[e]) ||
            a->in_edges[e] != b->in_edges[e])
            return false;
    for (int f = 0; f < a->n_feeds; f++)
        if (!same_edge(&a->feeds[f], &b->feeds[f]) ||
            a->feed_port[f] != b->feed_port[f])
            return false;
    return true;
}

static bool same_tensors(const mo_graph *a, const mo_graph *b)
{
    for (int t = 0; t < a->n_tensors; t++) {
        const mo_tensor *x = &a->tensors[t], *y = &b->tensors[t];
        if (x->producer != y->producer || x->port != y->port ||
            !same_texts(x->key, y->key) || x->bytes != y->bytes ||
            x->first_edge != y->first_edge || x->n_edges != y->n_edges)
            return false;
    }
    return true;
}

static bool same_measures(const mo_graph *a, const mo_graph *b)
{
    for (int i = 0; i < a->time_start[a->n_ops + a->n_constants]; i++)
        if (a->times[i].column != b->times[i].column ||
            a->times[i].us != b->times[i].us)
            return false;
    for (int i = 0; i < a->comm_start[a->n_edges]; i++)
        if (a->comms[i].column != b->comms[i].column ||
            a->comms[i].us != b->comms[i].us)
            return false;
    return true;
}

static bool same_names(const mo_graph *a, const mo_graph *b)
{
    for (int i = 0; i < a->n_port_names; i++)
        if (!same_texts(a->port_names[i], b->port_names[i]))
            return false;
    for (int i = 0; i < a->n_time_columns; i++)
        if (!same_texts(a->time_columns[i].key, b->time_columns[i].key))
            return false;
    for (int i = 0; i < a->n_comm_columns; i++)
        if (!same_texts(a->comm_columns[i].key, b->comm_columns[i].key))
            return false;
    return true;
}

static bool same_starts(const mo_graph *a, const mo_graph *b)
{
    size_t ops = ((size_t) a->n_ops + 1) * sizeof(int);
    size_t all = ops + (size_t) a->n_constants * sizeof(int);
    size_t edges = ((size_t) a->n_edges + 1) * sizeof(int);

    return memcmp(a->out_start, b->out_start, ops) == 0 &&
           memcmp(a->in_start, b->in_start, ops) == 0 &&
           memcmp(a->tensor_start, b->tensor_start, ops) == 0 &&
           memcmp(a->feed_start, b->feed_start, all) == 0 &&
           memcmp(a->time_start, b->time_start, all) == 0 &&
           memcmp(a->comm_start, b->comm_start, edges) == 0;
}

static bool same_counts(const mo_graph *a, const mo_graph *b)
{
    return a->n_ops == b->n_ops && a->n_constants == b->n_constants &&
           a->n_edges == b->n_edges && a->n_feeds == b->n_feeds &&
           a->n_tensors == b->n_tensors && a->n_port_names == b->n_port_names &&
           a->n_time_columns == b->n_time_columns &&
           a->n_comm_columns == b->n_comm_columns;
}

START_TEST(the_order_of_a_file_does_not_matter)
{
    mo_graph *g = random_graph((unsigned) _i, 1 + _i % 60);
    uint64_t digest = 0, permuted_digest = 1;

    MUST(mo_graph_digest(g, &digest, &err));
    for (unsigned permutation = 1; permutation <= 3; permutation++) {
        mo_graph *permuted =
            random_graph_permuted((unsigned) _i, 1 + _i % 60, permutation);
        MUST(mo_graph_digest(permuted, &permuted_digest, &err));
        ck_assert_msg(digest == permuted_digest && same_counts(g, permuted) &&
                          same_starts(g, permuted) && same_ops(g, permuted) &&
                          same_edges(g, permuted) &&
                          same_tensors(g, permuted) &&
                          same_measures(g, permuted) && same_names(g, permuted),
                      "seed %d, permutation %u", _i, permutation);
        mo_graph_free(permuted);
    }
    mo_graph_free(g);
}
END_TEST

/* Sorting by eight bytes at a time must not recurse once per step. */
START_TEST(names_of_megabytes_take_no_stack)
{
    size_t length = 16 << 20;
    char *text = malloc(2 * length + 3);
    mo_graph *g;

    ck_assert_ptr_nonnull(text);
    memset(text, 'x', 2 * length + 2);
    text[length - 1] = 'b';
    text[length] = ';';
    text[2 * length] = 'a';
    text[2 * length + 1] = '\0';
    g = graph_of(text);
    ck_assert_int_eq(g->n_ops, 2);
    ck_assert_int_eq(g->ops[0].name[length - 1], 'a');
    mo_graph_free(g);
    free(text);
}
END_TEST

SUITE(topo_order)
{
    EACH(ops_are_numbered_by_edges_and_then_by_name, COUNT(orders));
    SOME(names_of_megabytes_take_no_stack, 1, 0);
    SOME(numbers_agree_with_their_definition, 500, 40);
    SOME(the_order_of_a_file_does_not_matter, 600, 30);
}
