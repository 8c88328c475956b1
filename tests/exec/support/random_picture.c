/* SPDX-License-Identifier: Apache-2.0 */
/* Generator of random convolutional networks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

enum { MAX_PICTURES = 64, SIDE = 6 };

/* All tensors are images of one size but for their channels. */
typedef struct album {
    test_random random;
    mo_out *nodes, *edges;
    int channels[MAX_PICTURES]; /* image i is produced by op p<i> */
    bool is_read[MAX_PICTURES];
    int n;
} album;

static int below(album *a, int bound)
{
    return random_below(&a->random, bound);
}

static int pick(album *a)
{
    int near = a->n < 3 ? a->n : 3;

    return a->n - 1 - below(a, below(a, 3) ? near : a->n);
}

/* Op p<n>, which produces the next image. */
static int add_op(album *a, const char *type, int channels, const char *attrs)
{
    mo_out_printf(a->nodes,
                  "<node id='p%d'><data key='op'>%s</data>"
                  "<data key='shape'>1,%d,%d,%d</data>"
                  "<data key='dtype'>f32</data>"
                  "<data key='attrs'>{%s}</data></node>",
                  a->n, type, channels, SIDE, SIDE, attrs);
    a->channels[a->n] = channels;
    return a->n++;
}

static void add_edge(album *a, int from, const char *to, int port)
{
    a->is_read[from] = true;
    mo_out_printf(a->edges,
                  "<edge source='p%d' target='%s'><data key='src_port'>0"
                  "</data><data key='dst_port'>%d</data></edge>",
                  from, to, port);
}

static void feed(album *a, int from, int to, int port)
{
    char name[16];

    snprintf(name, sizeof name, "p%d", to);
    add_edge(a, from, name, port);
}

static void add_convolution(album *a)
{
    int x = pick(a), out = 1 + below(a, 20), kernel = 1 + 2 * below(a, 2);
    int in = a->channels[x];
    bool transposed = below(a, 4) == 0;
    char attrs[256];

    snprintf(attrs, sizeof attrs,
             "\"strides\":\"1,1\",\"dilations\":\"1,1\",\"pads_begin\":"
             "\"%d,%d\",\"pads_end\":\"%d,%d\",\"auto_pad\":\"explicit\","
             "\"weights\":\"1:%d,%d,%d,%d\"",
             kernel / 2, kernel / 2, kernel / 2, kernel / 2,
             transposed ? in : out, transposed ? out : in, kernel, kernel);
    feed(a, x,
         add_op(a, transposed ? "ConvolutionBackpropData" : "Convolution", out,
                attrs),
         0);
}

static void add_bias(album *a)
{
    int x = pick(a);
    char attrs[64];

    snprintf(attrs, sizeof attrs, "\"weights\":\"1:1,%d,1,1\"", a->channels[x]);
    feed(a, x,
         add_op(a, below(a, 4) ? "Add" : "Multiply", a->channels[x], attrs), 0);
}

static void add_unary(album *a)
{
    static const char *const types[] = { "ReLU", "Sigmoid", "Tanh" };
    int x = pick(a);

    feed(a, x, add_op(a, types[below(a, COUNT(types))], a->channels[x], ""), 0);
}

/* Another image of the same shape as x, or x itself. */
static int pick_like(album *a, int x)
{
    for (int tries = 0; tries < 8; tries++) {
        int y = pick(a);

        if (a->channels[y] == a->channels[x])
            return y;
    }
    return x;
}

static void add_sum(album *a)
{
    int x = pick(a), y = pick_like(a, x), to;

    to = add_op(a, "Add", a->channels[x], "");
    feed(a, x, to, 0);
    feed(a, y, to, 1);
}

static void add_pool(album *a)
{
    static const char *const types[] = { "MaxPool", "AvgPool" };
    int x = pick(a);

    feed(a, x,
         add_op(a, types[below(a, 2)], a->channels[x],
                "\"kernel\":\"3,3\",\"strides\":\"1,1\",\"pads_begin\":\"1,1\","
                "\"pads_end\":\"1,1\",\"exclude-pad\":\"true\","
                "\"rounding_type\":\"floor\",\"opset\":\"opset1\""),
         0);
}

static void add_join(album *a)
{
    int x = pick(a), y = pick(a), to;

    to = add_op(a, "Concat", a->channels[x] + a->channels[y], "\"axis\":\"1\"");
    feed(a, x, to, 0);
    feed(a, y, to, 1);
}

/* A reshape and its inverse. */
static void add_views(album *a)
{
    int x = pick(a), id = a->n, to;
    char name[16], attrs[64];

    snprintf(name, sizeof name, "v%d", id);
    mo_out_printf(a->nodes,
                  "<node id='%s'><data key='op'>Reshape</data>"
                  "<data key='shape'>%d,%d</data><data key='dtype'>f32</data>"
                  "<data key='attrs'>{\"values\":\"1:%d,%d\"}</data></node>",
                  name, SIDE, a->channels[x] * SIDE, SIDE,
                  a->channels[x] * SIDE);
    add_edge(a, x, name, 0);
    snprintf(attrs, sizeof attrs, "\"values\":\"1:1,%d,%d,%d\"", a->channels[x],
             SIDE, SIDE);
    to = add_op(a, "Reshape", a->channels[x], attrs);
    mo_out_printf(a->edges,
                  "<edge source='%s' target='p%d'><data key='src_port'>0"
                  "</data><data key='dst_port'>0</data></edge>",
                  name, to);
}

/* Squeeze-and-excitation: an image times the mean of its channels. */
static void add_excite(album *a)
{
    int x = pick(a), to;
    char name[16];

    snprintf(name, sizeof name, "m%d", a->n);
    mo_out_printf(a->nodes,
                  "<node id='%s'><data key='op'>ReduceMean</data>"
                  "<data key='shape'>1,%d,1,1</data>"
                  "<data key='dtype'>f32</data><data key='attrs'>"
                  "{\"keep_dims\":\"true\",\"values\":\"1:2,3\"}</data></node>",
                  name, a->channels[x]);
    add_edge(a, x, name, 0);
    to = add_op(a, "Multiply", a->channels[x], "");
    feed(a, x, to, 0);
    mo_out_printf(a->edges,
                  "<edge source='%s' target='p%d'><data key='src_port'>0"
                  "</data><data key='dst_port'>1</data></edge>",
                  name, to);
}

static void add_result(album *a, int picture)
{
    char name[16];

    snprintf(name, sizeof name, "r%d", picture);
    mo_out_printf(a->nodes, "<node id='%s'><data key='op'>Result</data></node>",
                  name);
    add_edge(a, picture, name, 0);
}

static void fill(album *a)
{
    static void (*const adds[])(album *) = {
        add_convolution, add_convolution, add_bias,   add_bias,
        add_unary,       add_unary,       add_sum,    add_pool,
        add_join,        add_views,       add_excite, add_sum,
    };
    int n = 4 + below(a, 24);

    add_op(a, "Parameter", 1 + below(a, 4), "\"index\":0");
    add_convolution(a);
    for (int i = 0; i < n; i++)
        adds[below(a, COUNT(adds))](a);
    for (int i = 0, made = a->n; i < made; i++)
        if (!a->is_read[i])
            add_result(a, i);
}

mo_graph *random_picture(unsigned seed)
{
    album a = { .random = { seed } };

    MUST(mo_out_memory(&a.nodes, &err));
    MUST(mo_out_memory(&a.edges, &err));
    fill(&a);
    return random_graphml(a.nodes, a.edges);
}
