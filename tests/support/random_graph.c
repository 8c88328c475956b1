/* SPDX-License-Identifier: Apache-2.0 */
/* Generator of random graphs, reproducible by seed. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "ingest/operator.h"

/*
 * A graph is planned first, with topological numbers, and then passed to a
 * builder in any order.  Numbers below n_ops are ops, those from there on
 * constants.
 */
struct planned_edge {
    int from, to;
    int src_port, dst_port; /* below FIRST_NAMED_PORT a number, or none */
    int key;                /* or -1 */
    int64_t bytes;
    double comm_us; /* or below 0 */
};

enum { FIRST_NAMED_PORT = 100 }; /* ports from here on have names */

struct plan {
    test_random random;
    int n_ops, n_constants;
    int *labels; /* names of the ops: a number each, shuffled */
    struct planned_edge *edges;
    size_t n_edges, room;
    int components, max_inputs, window;
    int one_in_is_source; /* beside those without possible predecessors */
    bool has_ports, has_keys, has_times, has_comms, has_sizes;
};

static bool chance(struct plan *p, int one_in)
{
    return random_below(&p->random, one_in) == 0;
}

static void shuffle(int *numbers, int count, test_random *random)
{
    for (int i = count - 1; i > 0; i--) {
        int j = random_below(random, i + 1), kept = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

static int *shuffled_numbers(int count, test_random *random)
{
    int *numbers = calloc((size_t) count + 1, sizeof *numbers);

    ck_assert_ptr_nonnull(numbers);
    for (int i = 0; i < count; i++)
        numbers[i] = i;
    if (random)
        shuffle(numbers, count, random);
    return numbers;
}

static void plan_kind(struct plan *p, unsigned seed, int n_ops)
{
    static const int inputs[] = { 1, 2, 3, 8 };

    *p = (struct plan){ .random = { seed }, .n_ops = n_ops };
    p->components = chance(p, 3) ? 1 + random_below(&p->random, 4) : 1;
    p->max_inputs = inputs[random_below(&p->random, COUNT(inputs))];
    p->window = chance(p, 2) ? 1 + random_below(&p->random, 6) : n_ops + 1;
    p->one_in_is_source = chance(p, 2) ? 10 : 1000;
    p->n_constants = chance(p, 3) ? random_below(&p->random, n_ops + 1) : 0;
    p->has_ports = chance(p, 2);
    p->has_keys = chance(p, 3);
    p->has_times = chance(p, 3);
    p->has_comms = chance(p, 3);
    p->has_sizes = chance(p, 2);
    p->labels = shuffled_numbers(n_ops + p->n_constants, &p->random);
}

static int random_port(struct plan *p)
{
    if (!p->has_ports || chance(p, 3))
        return MO_PORT_NONE;
    return random_below(&p->random, 3) + (chance(p, 4) ? FIRST_NAMED_PORT : 0);
}

static void keep_edge(struct plan *p, const struct planned_edge *edge)
{
    MUST(MO_ARRAY_GROW(p->edges, p->n_edges, p->room, &err));
    p->edges[p->n_edges++] = *edge;
}

static void plan_edge(struct plan *p, int from, int to)
{
    struct planned_edge edge = { .from = from, .to = to };

    /* One by one: in an initializer the compiler chooses the order. */
    edge.src_port = random_port(p);
    edge.dst_port = random_port(p);
    edge.key = p->has_keys && chance(p, 2) ? random_below(&p->random, 3) : -1;
    edge.bytes = p->has_sizes ? 4 * random_below(&p->random, 100) : MO_UNKNOWN;
    edge.comm_us = p->has_comms ? random_below(&p->random, 9) - 1 : -1;
    keep_edge(p, &edge);
    if (chance(p, 10)) { /* a parallel edge that differs in little */
        if (chance(p, 2))
            edge.src_port = random_port(p);
        edge.comm_us = p->has_comms ? random_below(&p->random, 3) - 1 : -1;
        keep_edge(p, &edge);
    }
}

static void plan_inputs(struct plan *p, int op)
{
    int before = op / p->components; /* ops of the same component */
    int reach = before < p->window ? before : p->window;
    int count = 1 + random_below(&p->random, p->max_inputs);

    if (reach == 0 || chance(p, p->one_in_is_source))
        return;
    for (int i = 0; i < count; i++) {
        int back = 1 + random_below(&p->random, reach);
        plan_edge(p, op - back * p->components, op);
    }
}

static void plan_graph(struct plan *p, unsigned seed, int n_ops)
{
    plan_kind(p, seed, n_ops);
    for (int op = 0; op < n_ops; op++)
        plan_inputs(p, op);
    for (int c = n_ops; c < n_ops + p->n_constants; c++) {
        if (n_ops > 0)
            plan_edge(p, c, random_below(&p->random, n_ops));
        if (c > n_ops && chance(p, 3))
            plan_edge(p, n_ops + random_below(&p->random, c - n_ops), c);
    }
}

/* Passes the plan to a builder. */
struct emitter {
    const struct plan *plan;
    mo_builder *builder;
    int line;
};

static int slot_of(struct emitter *t, int op)
{
    static const char *const prefixes[] = { "op", "encoder.layer.", "x" };
    int label = t->plan->labels[op], slot = -1;
    char name[64];

    snprintf(name, sizeof name, "%s%d", prefixes[label % 3], label);
    MUST(mo_builder_slot(t->builder, name, strlen(name), t->line, &slot, &err));
    return slot;
}

static const char *text_of(struct emitter *t, const char *prefix, int number)
{
    const char *kept = NULL;
    char text[64];

    snprintf(text, sizeof text, "%s%d", prefix, number);
    MUST(mo_builder_text(t->builder, text, strlen(text), &kept, &err));
    return kept;
}

static int port_of(struct emitter *t, int planned)
{
    char name[32];
    int port = planned;

    if (planned < FIRST_NAMED_PORT)
        return planned;
    snprintf(name, sizeof name, "port %d", planned);
    MUST(mo_builder_port(t->builder, name, strlen(name), &port, &err));
    return port;
}

static void emit_times(struct emitter *t, int slot, int label)
{
    static const char *const devices[] = { "B", "A", "a100" };

    for (int i = 0; i < 1 + label % COUNT(devices); i++) {
        const char *device = devices[(label + i) % COUNT(devices)];
        int column = -1;
        MUST(mo_builder_time_column(t->builder, device, strlen(device), &column,
                                    &err));
        MUST(mo_builder_time(t->builder, slot, column, label + i, &err));
    }
}

static void emit_op(struct emitter *t, int op)
{
    int label = t->plan->labels[op], slot = slot_of(t, op);
    const char *type = text_of(t, "type", label % 4);
    mo_op *made = NULL;

    MUST(mo_builder_define(t->builder, slot, t->line, &made, &err));
    made->type = label % 5 ? type : NULL;
    made->flops = label % 7 ? 10.0 * label : MO_UNKNOWN;
    made->bytes = label;
    made->weight_bytes = label % 3 ? 8 * label : MO_UNKNOWN;
    made->output_bytes = 4 * label;
    if (op >= t->plan->n_ops)
        mo_builder_mark_constant(t->builder, slot);
    if (t->plan->has_times)
        emit_times(t, slot, label);
}

static void emit_comm(struct emitter *t, int number, double us)
{
    const char *pair = (int) us % 2 ? "B.A" : "A.B";
    int column = -1;

    MUST(mo_builder_comm_column(t->builder, pair, 3, &column, &err));
    mo_builder_comm_fallback(t->builder, column, 0.5);
    MUST(mo_builder_comm(t->builder, number, column, us, &err));
}

static void emit_edge(struct emitter *t, const struct planned_edge *planned)
{
    int number = -1;
    mo_builder_edge edge = {
        .from = slot_of(t, planned->from),
        .to = slot_of(t, planned->to),
        .src_port = port_of(t, planned->src_port),
        .dst_port = port_of(t, planned->dst_port),
        .tensor = planned->key < 0 ? NULL : text_of(t, "key", planned->key),
        .bytes = planned->bytes,
        .line = t->line,
    };

    MUST(mo_builder_add_edge(t->builder, &edge, &number, &err));
    if (planned->comm_us >= 0)
        emit_comm(t, number, planned->comm_us);
}

static mo_graph *emit_graph(const struct plan *p, unsigned permutation)
{
    struct emitter t = { .plan = p };
    test_random random = { permutation };
    int n = p->n_ops + p->n_constants, all = n + (int) p->n_edges;
    int *order = shuffled_numbers(all, permutation > 0 ? &random : NULL);
    mo_graph *g = NULL;

    MUST(mo_builder_new("random", &t.builder, &err));
    for (int i = 0; i < all; i++) {
        t.line = i + 1;
        if (order[i] < n)
            emit_op(&t, order[i]);
        else
            emit_edge(&t, &p->edges[order[i] - n]);
    }
    free(order);
    MUST(mo_builder_finish(t.builder, &g, &err));
    mo_operator_resolve(g);
    mo_builder_free(t.builder);
    return g;
}

mo_graph *random_graph_permuted(unsigned seed, int n_ops, unsigned permutation)
{
    struct plan p;
    mo_graph *g;

    plan_graph(&p, seed, n_ops);
    g = emit_graph(&p, permutation);
    free(p.edges);
    free(p.labels);
    return g;
}

mo_graph *random_graph(unsigned seed, int n_ops)
{
    return random_graph_permuted(seed, n_ops, 0);
}
