/* SPDX-License-Identifier: Apache-2.0 */
/* Generator of random networks of matrices. */
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ingest/work.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"
#include "ingest/operator.h"

enum { MAX_TENSORS = 128, MAX_SIDE = 96 };

/* All tensors are matrices: output port of the op in slot. */
typedef struct matrix {
    int slot, port, rows, columns;
    bool is_read;
} matrix;

typedef struct network {
    test_random random;
    mo_builder *builder;
    int n_ops;
    matrix matrices[MAX_TENSORS];
    int n;
} network;

static int below(network *w, int bound)
{
    return random_below(&w->random, bound);
}

static const char *keep(network *w, const char *text)
{
    const char *kept = NULL;

    MUST(mo_builder_text(w->builder, text, strlen(text), &kept, &err));
    return kept;
}

static int add_op(network *w, const char *type, const char *shape,
                  const char *attrs)
{
    char name[32];
    int slot = -1;
    mo_op *op = NULL;

    snprintf(name, sizeof name, "%s%d", type, w->n_ops++);
    MUST(
        mo_builder_slot(w->builder, name, strlen(name), w->n_ops, &slot, &err));
    type = keep(w, type);
    shape = shape ? keep(w, shape) : NULL;
    attrs = attrs ? keep(w, attrs) : NULL;
    MUST(mo_builder_define(w->builder, slot, w->n_ops, &op, &err));
    op->type = type;
    op->shape = shape;
    op->dtype = shape ? "f32" : NULL;
    op->attrs = attrs;
    op->workspace_bytes = 0;
    return slot;
}

static void add_edge(network *w, const matrix *from, int to, int port)
{
    mo_builder_edge edge = {
        .from = from->slot,
        .to = to,
        .src_port = from->port,
        .dst_port = port,
        .bytes = (int64_t) 4 * from->rows * from->columns,
        .line = w->n_ops,
    };

    MUST(mo_builder_add_edge(w->builder, &edge, NULL, &err));
}

static void feed(network *w, matrix *from, int to, int port)
{
    from->is_read = true;
    add_edge(w, from, to, port);
}

static void add_matrix(network *w, int slot, int port, int rows, int columns)
{
    if (w->n < MAX_TENSORS)
        w->matrices[w->n++] = (matrix){ slot, port, rows, columns, false };
}

/* An op with one output of that shape. */
static int add_maker(network *w, const char *type, int rows, int columns,
                     const char *attrs)
{
    char shape[32];
    int slot;

    snprintf(shape, sizeof shape, "%d,%d", rows, columns);
    slot = add_op(w, type, shape, attrs);
    add_matrix(w, slot, 0, rows, columns);
    return slot;
}

static void add_input(network *w)
{
    add_maker(w, "Parameter", 1 + below(w, 8), 1 + below(w, 8), NULL);
}

/* An old one as likely as the last one. */
static matrix *pick(network *w)
{
    int back = below(w, 2) ? w->n : w->n < 4 ? w->n : 4;

    return &w->matrices[w->n - 1 - below(w, back)];
}

static void add_unary(network *w)
{
    static const char *const types[] = { "ReLU", "Tanh", "Sigmoid", "Abs" };
    matrix *x = pick(w);

    feed(w, x,
         add_maker(w, types[below(w, COUNT(types))], x->rows, x->columns, NULL),
         0);
}

/* A second operand of the same shape: another matrix, itself, weights in attrs
 * or a constant in a node. */
static void add_binary(network *w)
{
    static const char *const types[] = { "Add", "Multiply", "Maximum" };
    const char *type = types[below(w, COUNT(types))];
    matrix *x = pick(w), *y = pick(w);
    char attrs[64];
    int slot;

    snprintf(attrs, sizeof attrs, "{\"weights\":\"1:%d,%d\"}", x->rows,
             x->columns);
    if (y->rows == x->rows && y->columns == x->columns) {
        slot = add_maker(w, type, x->rows, x->columns, NULL);
        feed(w, y, slot, 1);
    } else if (below(w, 2)) {
        slot = add_maker(w, type, x->rows, x->columns, attrs);
    } else {
        matrix number = { add_op(w, "Const", "1,1", "{\"value\":\"0.75\"}"), 0,
                          1, 1, true };

        mo_builder_mark_constant(w->builder, number.slot);
        slot = add_maker(w, type, x->rows, x->columns, NULL);
        add_edge(w, &number, slot, 1);
    }
    feed(w, x, slot, 0);
}

static void add_product(network *w)
{
    matrix *x = pick(w);
    int columns = 1 + below(w, 8);
    char attrs[64];

    snprintf(attrs, sizeof attrs, "{\"weights\":\"1:%d,%d\"}", x->columns,
             columns);
    feed(w, x, add_maker(w, "MatMul", x->rows, columns, attrs), 0);
}

static void add_concat(network *w)
{
    matrix *x = pick(w), *y = pick(w);
    int slot;

    if (x->columns != y->columns || x->rows + y->rows > MAX_SIDE)
        return;
    slot = add_maker(w, "Concat", x->rows + y->rows, x->columns,
                     "{\"axis\":\"0\"}");
    feed(w, x, slot, 0);
    feed(w, y, slot, 1);
}

static void add_split(network *w)
{
    matrix *x = pick(w);
    int rows = x->rows / 2, columns = x->columns, slot;
    char shape[64];

    if (x->rows % 2 != 0)
        return;
    snprintf(shape, sizeof shape, "%d,%d;%d,%d", rows, columns, rows, columns);
    slot =
        add_op(w, "Split", shape, "{\"num_splits\":\"2\",\"values\":\"1:0\"}");
    feed(w, x, slot, 0);
    add_matrix(w, slot, 0, rows, columns);
    add_matrix(w, slot, 1, rows, columns);
}

/* A reshape, or a transpose. */
static void add_turned(network *w, const char *type)
{
    matrix *x = pick(w);
    char attrs[64];
    int slot;

    if (strcmp(type, "Transpose") == 0)
        snprintf(attrs, sizeof attrs, "{\"values\":\"1:1,0\"}");
    else
        snprintf(attrs, sizeof attrs, "{\"values\":\"1:%d,%d\"}", x->columns,
                 x->rows);
    slot = add_maker(w, type, x->columns, x->rows, attrs);
    feed(w, x, slot, 0);
}

static void add_any(network *w)
{
    switch (below(w, 9)) {
    case 0:
    case 1:
        add_unary(w);
        break;
    case 2:
    case 3:
        add_binary(w);
        break;
    case 4:
        add_product(w);
        break;
    case 5:
        add_concat(w);
        break;
    case 6:
        add_split(w);
        break;
    case 7:
        add_turned(w, "Transpose");
        break;
    default:
        add_turned(w, "Reshape");
        break;
    }
}

/* Most tensors without readers become results; sometimes others, too. */
static void add_results(network *w)
{
    int n = w->n, results = 0;

    for (int i = 0; i < n; i++) {
        matrix *x = &w->matrices[i];
        bool last = i == n - 1 && results == 0;

        if (!last && below(w, 8) != 0 && (x->is_read || below(w, 8) == 0))
            continue;
        feed(w, x, add_op(w, "Result", NULL, NULL), 0);
        results++;
    }
}

mo_graph *random_network(unsigned seed)
{
    network w = { .random = { seed } };
    mo_graph *g = NULL;
    int n_ops;

    MUST(mo_builder_new("random", &w.builder, &err));
    add_input(&w);
    if (below(&w, 2))
        add_input(&w);
    n_ops = 1 + below(&w, 40);
    for (int i = 0; i < n_ops; i++)
        add_any(&w);
    add_results(&w);
    MUST(mo_builder_finish(w.builder, &g, &err));
    mo_operator_resolve(g);
    mo_builder_free(w.builder);
    MUST(mo_work_fill(g, &err));
    return g;
}
