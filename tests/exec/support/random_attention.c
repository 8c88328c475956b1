/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator of random attention subgraphs in equivalent forms: projections
 * separate or merged, split or sliced; with biases and transposes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

/* Random spellings of attention. Ops are o0, o1, ...; a tensor is numbered by
 * the op that produces it. */
typedef struct spelling {
    test_random random;
    mo_out *nodes, *edges;
    int n;
    int batch, rows, heads, depth;
} spelling;

static int below(spelling *s, int bound)
{
    return random_below(&s->random, bound);
}

static int dims(char *text, size_t size, int rank, ...)
{
    va_list numbers;
    int length = 0;

    va_start(numbers, rank);
    for (int d = 0; d < rank; d++)
        length += snprintf(text + length, size - (size_t) length, "%s%d",
                           d ? "," : "", va_arg(numbers, int));
    va_end(numbers);
    return length;
}

static int add_op(spelling *s, const char *type, const char *shape,
                  const char *attrs)
{
    mo_out_printf(s->nodes,
                  "<node id='o%d'><data key='op'>%s</data>"
                  "<data key='shape'>%s</data><data key='dtype'>f32</data>"
                  "<data key='attrs'>{%s}</data></node>",
                  s->n, type, shape, attrs);
    return s->n++;
}

static void feed_port(spelling *s, int from, int port, int to, int at)
{
    mo_out_printf(s->edges,
                  "<edge source='o%d' target='o%d'><data key='src_port'>%d"
                  "</data><data key='dst_port'>%d</data></edge>",
                  from, to, port, at);
}

static int add_unary(spelling *s, int x, const char *type, const char *shape,
                     const char *attrs)
{
    int to = add_op(s, type, shape, attrs);

    feed_port(s, x, 0, to, 0);
    return to;
}

static int add_binary(spelling *s, int a, int b, const char *type,
                      const char *shape, const char *attrs)
{
    int to = add_unary(s, a, type, shape, attrs);

    feed_port(s, b, 0, to, 1);
    return to;
}

/* An op with a constant of that shape for its second operand. */
static int add_weighted(spelling *s, int x, const char *type, const char *shape,
                        const char *weights)
{
    char attrs[128];

    snprintf(attrs, sizeof attrs, "\"weights\":\"1:%s\"", weights);
    return add_unary(s, x, type, shape, attrs);
}

static int add_told(spelling *s, int x, const char *type, const char *shape,
                    const char *values)
{
    char attrs[128];

    snprintf(attrs, sizeof attrs, "\"values\":\"1:%s\"", values);
    return add_unary(s, x, type, shape, attrs);
}

static int add_reshape(spelling *s, int x, const char *shape)
{
    return add_told(s, x, "Reshape", shape, shape);
}

static void add_result(spelling *s, int x)
{
    mo_out_printf(s->nodes,
                  "<node id='o%d'><data key='op'>Result</data></node>", s->n);
    feed_port(s, x, 0, s->n++, 0);
}

/* Transposes rows of all heads, so that heads come before rows. */
static int turn_heads(spelling *s, int x)
{
    char apart[64], turned[64];

    dims(apart, sizeof apart, 4, s->batch, s->rows, s->heads, s->depth);
    dims(turned, sizeof turned, 4, s->batch, s->heads, s->rows, s->depth);
    return add_told(s, add_reshape(s, x, apart), "Transpose", turned,
                    "0,2,1,3");
}

static void make_apart(spelling *s, int x, int qkv[3])
{
    char shape[64], weights[64], bias[16];
    int width = s->heads * s->depth, biased = below(s, 2);

    dims(shape, sizeof shape, 3, s->batch, s->rows, width);
    dims(weights, sizeof weights, 2, width, width);
    dims(bias, sizeof bias, 1, width);
    for (int i = 0; i < 3; i++) {
        int made = add_weighted(s, x, "MatMul", shape, weights);

        if (biased)
            made = add_weighted(s, made, "Add", shape, bias);
        qkv[i] = turn_heads(s, made);
    }
}

static int make_at_once(spelling *s, int x)
{
    char shape[64], weights[64];
    int width = s->heads * s->depth;

    dims(shape, sizeof shape, 3, s->batch, s->rows, 3 * width);
    dims(weights, sizeof weights, 2, width, 3 * width);
    return add_weighted(s, x, "MatMul", shape, weights);
}

static void make_split(spelling *s, int x, int qkv[3])
{
    char shape[64], shapes[3 * sizeof shape], apart[64], turned[64];
    int all = make_at_once(s, x), split;

    dims(shape, sizeof shape, 3, s->batch, s->rows, s->heads * s->depth);
    dims(apart, sizeof apart, 4, s->batch, s->rows, s->heads, s->depth);
    dims(turned, sizeof turned, 4, s->batch, s->heads, s->rows, s->depth);
    snprintf(shapes, sizeof shapes, "%s;%s;%s", shape, shape, shape);
    split = add_unary(s, all, "Split", shapes,
                      "\"num_splits\":\"3\",\"values\":\"1:2\"");
    for (int i = 0; i < 3; i++) {
        char attrs[96];
        int view;

        snprintf(attrs, sizeof attrs, "\"values\":\"1:%s\"", apart);
        view = add_op(s, "Reshape", apart, attrs);
        feed_port(s, split, i, view, 0);
        qkv[i] = add_told(s, view, "Transpose", turned, "0,2,1,3");
    }
}

static void make_sliced(spelling *s, int x, int qkv[3])
{
    char apart[64], turned[64], one[64], shape[64], which[96];
    int all = make_at_once(s, x);

    dims(apart, sizeof apart, 5, s->batch, s->rows, 3, s->heads, s->depth);
    dims(turned, sizeof turned, 5, 3, s->batch, s->heads, s->rows, s->depth);
    dims(one, sizeof one, 5, 1, s->batch, s->heads, s->rows, s->depth);
    dims(shape, sizeof shape, 4, s->batch, s->heads, s->rows, s->depth);
    all = add_told(s, add_reshape(s, all, apart), "Transpose", turned,
                   "2,0,3,1,4");
    for (int i = 0; i < 3; i++) {
        snprintf(which, sizeof which, "\"values\":\"1:%d;2:%d;3:1;4:0\"", i,
                 i + 1);
        qkv[i] = add_reshape(s, add_unary(s, all, "Slice", one, which), shape);
    }
}

static int multiply(spelling *s, int q, int k)
{
    char shape[64], turned[64];

    dims(shape, sizeof shape, 4, s->batch, s->heads, s->rows, s->rows);
    if (below(s, 2))
        return add_binary(s, q, k, "MatMul", shape, "\"transpose_b\":\"true\"");
    dims(turned, sizeof turned, 4, s->batch, s->heads, s->depth, s->rows);
    k = add_told(s, k, "Transpose", turned, "0,1,3,2");
    return add_binary(s, q, k, "MatMul", shape, "");
}

static int add_bias(spelling *s, int x, const char *shape)
{
    char bias[64];
    int batch = below(s, 2) ? s->batch : 1, heads = below(s, 2) ? s->heads : 1;

    dims(bias, sizeof bias, 4, batch, heads, below(s, 2) ? s->rows : 1,
         s->rows);
    return add_weighted(s, x, "Add", shape, bias);
}

/* With a reshape around it, as in windowed attention. */
static int add_bias_apart(spelling *s, int x, const char *shape)
{
    char apart[64], bias[64];

    dims(apart, sizeof apart, 5, 1, s->batch, s->heads, s->rows, s->rows);
    dims(bias, sizeof bias, 5, 1, s->batch, 1, s->rows, s->rows);
    x = add_weighted(s, add_reshape(s, x, apart), "Add", apart, bias);
    return add_reshape(s, x, shape);
}

/* Computed by the network itself. */
static int add_bias_made(spelling *s, int x, const char *shape, int source)
{
    char made[64], weights[64], bias[64];

    dims(made, sizeof made, 3, s->batch, s->rows, s->rows);
    dims(weights, sizeof weights, 2, s->heads * s->depth, s->rows);
    dims(bias, sizeof bias, 4, s->batch, 1, s->rows, s->rows);
    source = add_weighted(s, source, "MatMul", made, weights);
    return add_binary(s, x, add_reshape(s, source, bias), "Add", shape, "");
}

static int change(spelling *s, int x, int source)
{
    char shape[64];

    dims(shape, sizeof shape, 4, s->batch, s->heads, s->rows, s->rows);
    for (int n = below(s, 4); n > 0; n--)
        switch (below(s, 6)) {
        case 0:
            x = add_weighted(s, x, "Multiply", shape, "1");
            break;
        case 1:
            x = add_bias_apart(s, x, shape);
            break;
        case 2:
            x = add_bias_made(s, x, shape, source);
            break;
        case 3:
            x = add_unary(s, x, "Tanh", shape, "");
            break;
        default:
            x = add_bias(s, x, shape);
        }
    if (below(s, 8) == 0)
        add_result(s, x);
    return add_unary(s, x, "Softmax", shape, "\"axis\":\"3\"");
}

static int finish(spelling *s, int x)
{
    char turned[64], shape[64], weights[64];
    int width = s->heads * s->depth;

    dims(turned, sizeof turned, 4, s->batch, s->rows, s->heads, s->depth);
    dims(shape, sizeof shape, 3, s->batch, s->rows, width);
    dims(weights, sizeof weights, 2, width, width);
    if (below(s, 6) == 0)
        add_result(s, x);
    x = add_told(s, x, "Transpose", turned, "0,2,1,3");
    if (below(s, 3) == 0)
        x = add_unary(s, x, "Sigmoid", turned, "");
    x = add_reshape(s, x, shape);
    return add_weighted(s, x, "MatMul", shape, weights);
}

static int add_layer(spelling *s, int x)
{
    static void (*const makes[])(
        spelling *, int, int[3]) = { make_apart, make_split, make_sliced };
    char shape[64];
    int qkv[3], p;

    makes[below(s, COUNT(makes))](s, x, qkv);
    dims(shape, sizeof shape, 4, s->batch, s->heads, s->rows, s->depth);
    if (below(s, 2))
        qkv[below(s, 2)] = add_weighted(s, qkv[0], "Multiply", shape, "1");
    p = change(s, multiply(s, qkv[0], qkv[1]), x);
    return finish(s, add_binary(s, p, qkv[2], "MatMul", shape, ""));
}

static void spell(spelling *s)
{
    static const int rows[] = { 2, 5, 8, 17 };
    char shape[64];
    int x;

    s->batch = 1 + below(s, 2);
    s->heads = 1 + below(s, 3);
    s->depth = 1 + below(s, 9);
    s->rows = rows[below(s, COUNT(rows))];
    dims(shape, sizeof shape, 3, s->batch, s->rows, s->heads * s->depth);
    x = add_op(s, "Parameter", shape, "\"index\":0");
    for (int n = 1 + below(s, 2); n > 0; n--)
        x = add_layer(s, x);
    add_result(s, x);
}

mo_graph *random_attention(unsigned seed)
{
    spelling s = { .random = { seed } };

    MUST(mo_out_memory(&s.nodes, &err));
    MUST(mo_out_memory(&s.edges, &err));
    spell(&s);
    return random_graphml(s.nodes, s.edges);
}
