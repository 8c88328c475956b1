/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the paper's transformer networks, and their generator. */
#include "ingest/zoo.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/out.h"
#include "graph/build.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "ingest/operator.h"

/*
 * The transformer layer that all models of the zoo are stacks of.
 *
 * The parts in the frame exist once per head:
 *
 *                   +--------------------------------------------+
 *                   | q, q_bias --------------.                  |
 *   x --> ln1 ------> k, k_bias, transpose --> scores, scale,    |
 *   |               |                          mask, softmax --. |
 *   |               | v, v_bias --------------------------> context
 *   |               +--------------------------------------------+ |
 *   |                                         concat <-------------'
 *   `-------> add1 <--- proj_bias <--- proj <----'
 *              | `--> ln2, fc1, fc1_bias, gelu, fc2 --.
 *              `------------------------------------> add2 --> the next x
 *
 * All layers are alike but for the first, whose x is the network's input.
 */

enum {
    LAYER_OPS = 23,
    HEAD_FIRST = 1, /* these and those between, once per head */
    HEAD_LAST = 12,
    MAX_INPUTS = 2,
    MAX_WEIGHTS = 2
};

/* Inputs that are no part of the layer. */
#define INPUT_NAME "x"
#define HEADS_NAME "heads"

/*
 * Shapes are texts of one letter per dimension: b batch, t tokens, d hidden
 * size, h hidden size of one head, i inner size of the feed-forward part, 4 d.
 */
typedef struct layer_op {
    const char *name, *type;
    const char *output;               /* shape */
    const char *inputs[MAX_INPUTS];   /* names, by port */
    const char *weights[MAX_WEIGHTS]; /* shapes of the constants, on
                                                the ports behind the inputs */
    double work;       /* flops for each element of the output, ... */
    char inner;        /* ... times the size of this dimension, if any */
    const char *attrs; /* further members of the attrs, or NULL */
    bool scales;       /* multiplies by one over the root of the head size */
} layer_op;

#define LAYER_NORM "\"axis\":\"-1\",\"epsilon\":\"1e-05\""
#define LAST_AXIS  "\"axis\":\"-1\""

/* In an order in which each follows what it reads. */
/* clang-format off */
static const layer_op layer_ops[LAYER_OPS] = {
    { "ln1", "LayerNormalization", "btd", { INPUT_NAME },
      .weights = { "d", "d" }, .work = 8, .attrs = LAYER_NORM },

    { "q", "MatMul", "bth", { "ln1" },
      .weights = { "dh" }, .work = 2, .inner = 'd' },
    { "q_bias", "Add", "bth", { "q" }, .weights = { "h" }, .work = 1 },
    { "k", "MatMul", "bth", { "ln1" },
      .weights = { "dh" }, .work = 2, .inner = 'd' },
    { "k_bias", "Add", "bth", { "k" }, .weights = { "h" }, .work = 1 },
    { "v", "MatMul", "bth", { "ln1" },
      .weights = { "dh" }, .work = 2, .inner = 'd' },
    { "v_bias", "Add", "bth", { "v" }, .weights = { "h" }, .work = 1 },
    { "transpose", "Transpose", "bht", { "k_bias" },
      .attrs = "\"values\":\"1:0,2,1\"" },
    { "scores", "MatMul", "btt", { "q_bias", "transpose" },
      .work = 2, .inner = 'h' },
    { "scale", "Multiply", "btt", { "scores" }, .work = 1, .scales = true },
    /* The mask follows from the indices: no tensor is read for it. */
    { "mask", "Add", "btt", { "scale" },
      .work = 1, .attrs = "\"values\":\"1:causal\"" },
    { "softmax", "SoftMax", "btt", { "mask" }, .work = 5, .attrs = LAST_AXIS },
    { "context", "MatMul", "bth", { "softmax", "v_bias" },
      .work = 2, .inner = 't' },

    { "concat", "Concat", "btd", { HEADS_NAME }, .attrs = LAST_AXIS },
    { "proj", "MatMul", "btd", { "concat" },
      .weights = { "dd" }, .work = 2, .inner = 'd' },
    { "proj_bias", "Add", "btd", { "proj" }, .weights = { "d" }, .work = 1 },
    { "add1", "Add", "btd", { "proj_bias", INPUT_NAME }, .work = 1 },
    { "ln2", "LayerNormalization", "btd", { "add1" },
      .weights = { "d", "d" }, .work = 8, .attrs = LAYER_NORM },
    { "fc1", "MatMul", "bti", { "ln2" },
      .weights = { "di" }, .work = 2, .inner = 'd' },
    { "fc1_bias", "Add", "bti", { "fc1" }, .weights = { "i" }, .work = 1 },
    { "gelu", "Gelu", "bti", { "fc1_bias" },
      .work = 8, .attrs = "\"approximation_mode\":\"ERF\"" },
    { "fc2", "MatMul", "btd", { "gelu" },
      .weights = { "id" }, .work = 2, .inner = 'i' },
    { "add2", "Add", "btd", { "fc2", "add1" }, .work = 1 },
};
/* clang-format on */

static int count_inputs(const layer_op *part)
{
    int n = 0;
    while (n < MAX_INPUTS && part->inputs[n])
        n++;
    return n;
}

/* Returns the port of the layer's input, or -1. */
static int layer_input_port(const layer_op *part)
{
    for (int port = 0; port < count_inputs(part); port++)
        if (strcmp(part->inputs[port], INPUT_NAME) == 0)
            return port;
    return -1;
}

static int64_t dimension_size(const mo_zoo_config *config, char letter)
{
    switch (letter) {
    case 'b':
        return config->batch;
    case 't':
        return config->tokens;
    case 'd':
        return config->hidden;
    case 'h':
        return config->hidden / config->heads;
    default:
        return 4 * (int64_t) config->hidden;
    }
}

static int64_t element_bytes(const mo_zoo_config *config)
{
    return mo_dtype_bits(config->dtype) / 8;
}

/* A terabyte is more than any device holds, and far enough from overflow that
 * no other function here has to check for it. */
static mo_status check_sizes(const mo_zoo_config *config, mo_error *err)
{
    static const char *const largest[] = { "bti", "btt", "di" };
    const int64_t limit = (int64_t) 1 << 40;

    for (int i = 0; i < 3; i++) {
        int64_t size = element_bytes(config);
        for (const char *s = largest[i]; *s; s++)
            if (!mo_int64_mul(size, dimension_size(config, *s), &size) ||
                size > limit)
                return mo_fail(err, MO_E_USAGE,
                               "a tensor would be larger "
                               "than 1 TiB; ask for less batch, tokens or "
                               "hidden size");
    }
    return MO_OK;
}

static int64_t count_elements(const mo_zoo_config *config, const char *shape)
{
    int64_t n = 1;
    for (const char *s = shape; *s; s++)
        n *= dimension_size(config, *s);
    return n;
}

static int64_t size_bytes(const mo_zoo_config *config, const char *shape)
{
    return count_elements(config, shape) * element_bytes(config);
}

static double flops_of(const mo_zoo_config *config, const layer_op *part)
{
    double inner =
        part->inner ? (double) dimension_size(config, part->inner) : 1;

    return part->work * (double) count_elements(config, part->output) * inner;
}

static int64_t weight_bytes_of(const mo_zoo_config *config,
                               const layer_op *part)
{
    int64_t sum = 0;

    for (int i = 0; i < MAX_WEIGHTS && part->weights[i]; i++)
        sum += size_bytes(config, part->weights[i]);
    return sum;
}

/* The shape of an input.  All heads together are as large as a layer's. */
static const char *input_shape(const char *name)
{
    for (int i = 0; i < LAYER_OPS; i++)
        if (strcmp(layer_ops[i].name, name) == 0)
            return layer_ops[i].output;
    return "btd";
}

/* Returns the memory traffic in bytes: everything is read once and written
 * once. */
static double bytes_of(const mo_zoo_config *config, const layer_op *part)
{
    int64_t sum =
        weight_bytes_of(config, part) + size_bytes(config, part->output);

    for (int port = 0; port < count_inputs(part); port++)
        sum += size_bytes(config, input_shape(part->inputs[port]));
    return (double) sum;
}

static void put_shape(const mo_zoo_config *config, const char *letters,
                      mo_out *out)
{
    char text[MO_SHAPE_TEXT_SIZE];
    mo_shape shape = { 0 };

    for (const char *s = letters; *s; s++)
        shape.dims[shape.rank++] = dimension_size(config, *s);
    mo_out_bytes(out, text, mo_shape_write(&shape, text));
}

/* Write the shape of the output, and the attrs as a JSON object or nothing
 * when there are none. network_port is the port of the network's input, or
 * -1. */
static void write_shape(const mo_zoo_config *config, const layer_op *part,
                        mo_out *out)
{
    put_shape(config, part->output, out);
}

static void put_weights(const mo_zoo_config *config, const layer_op *part,
                        mo_out *out)
{
    int port = count_inputs(part);

    mo_out_text(out, "\"weights\":\"");
    for (int i = 0; i < MAX_WEIGHTS && part->weights[i]; i++) {
        mo_out_printf(out, "%s%d:", i ? ";" : "", port + i);
        put_shape(config, part->weights[i], out);
    }
    mo_out_char(out, '"');
}

static void put_scale(const mo_zoo_config *config, mo_out *out)
{
    mo_out_text(out, "\"values\":\"1:");
    mo_out_double(out, 1 / sqrt((double) dimension_size(config, 'h')));
    mo_out_char(out, '"');
}

static void put_network_input(const mo_zoo_config *config, int port,
                              mo_out *out)
{
    mo_out_printf(out, "\"network_input\":\"%d:", port);
    put_shape(config, "btd", out);
    mo_out_char(out, '"');
}

/* Writes what precedes the next member: the brace, or a comma. */
static void begin_member(mo_out *out, char *before)
{
    mo_out_char(out, *before);
    *before = ',';
}

static void write_attrs(const mo_zoo_config *config, const layer_op *part,
                        int network_port, mo_out *out)
{
    char before = '{';

    if (part->attrs) {
        begin_member(out, &before);
        mo_out_text(out, part->attrs);
    }
    if (part->weights[0]) {
        begin_member(out, &before);
        put_weights(config, part, out);
    }
    if (part->scales) {
        begin_member(out, &before);
        put_scale(config, out);
    }
    if (network_port >= 0) {
        begin_member(out, &before);
        put_network_input(config, network_port, out);
    }
    if (before == ',')
        mo_out_char(out, '}');
}

/* clang-format off */
const mo_zoo_model mo_zoo_models[] = {
    { "swin-1.8b",       "Swin Transformer 1.8B", 32,  512,  16, 6496 },
    { "swin-6.6b",       "Swin Transformer 6.6B", 48,  768,  24, 14352 },
    { "swin-13b",        "Swin Transformer 13B",  56,  1024, 32, 22120 },
    { "gpt3-330m",       "GPT-3 330M",            24,  1024, 16, 4872 },
    { "gpt3-1.3b",       "GPT-3 1.3B",            24,  2048, 32, 9480 },
    { "gpt3-2.7b",       "GPT-3 2.7B",            32,  2560, 32, 12640 },
    { "gpt3-13b",        "GPT-3 13B",             40,  5120, 40, 19640 },
    { "alphafold2-87m",  "AlphaFold2 87M",        48,  256,  8,  5136 },
    { "alphafold2-930m", "AlphaFold2 930M",       64,  512,  16, 12992 },
    { "alphafold2-2.4b", "AlphaFold2 2.4B",       96,  1024, 32, 37920 },
    { "alphafold2-3.2b", "AlphaFold2 3.2B",       128, 1024, 32, 50560 },
    { NULL, NULL, 0, 0, 0, 0 }
};
/* clang-format on */

/* Inputs of a part that are not the index of another. */
enum { NOTHING = -1, LAYER_INPUT = -2, ALL_HEADS = -3 };

/* All layers are alike, so an op's fields are computed once for each part and
 * then copied. */
typedef struct plan {
    mo_op op;
    const char *first_attrs; /* instead of op's, in the first layer */
    int inputs[MAX_INPUTS];  /* parts, by port */
} plan;

typedef struct zoo {
    const mo_zoo_config *config;
    mo_builder *builder;
    plan plans[LAYER_OPS];
    int slots[LAYER_OPS]; /* of the layer and the head being built */
    int *heads;           /* slots of the last part of all heads */
    int layer_input;      /* slot, or NOTHING in the first layer */
} zoo;

enum { NAME_SIZE = 64 }; /* two numbers and a part's name */

const mo_zoo_model *mo_zoo_find(const char *name)
{
    for (const mo_zoo_model *m = mo_zoo_models; m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

static int64_t ops_in_layer(const mo_zoo_config *config)
{
    int in_head = HEAD_LAST - HEAD_FIRST + 1;

    return LAYER_OPS - in_head + (int64_t) in_head * config->heads;
}

static bool is_dtype(const char *text)
{
    return strcmp(text, "f32") == 0 || strcmp(text, "f16") == 0 ||
           strcmp(text, "bf16") == 0;
}

static mo_status check_config(const mo_zoo_config *config, mo_error *err)
{
    int64_t ops;

    if (config->layers < 1 || config->hidden < 1 || config->heads < 1 ||
        config->tokens < 1 || config->batch < 1)
        return mo_fail(err, MO_E_USAGE,
                       "layers, hidden size, heads, tokens "
                       "and batch must be at least 1");
    if (config->hidden % config->heads != 0)
        return mo_fail(err, MO_E_USAGE,
                       "a hidden size of %d cannot be split "
                       "into %d heads; give a multiple",
                       config->hidden, config->heads);
    if (!is_dtype(config->dtype))
        return mo_fail(err, MO_E_USAGE,
                       "weights cannot be of dtype '%s'; "
                       "give f32, f16 or bf16",
                       config->dtype);
    if (!mo_int64_mul(config->layers, ops_in_layer(config), &ops) ||
        ops > MO_MAX_OPS)
        return mo_fail(err, MO_E_USAGE,
                       "%d layers of %d heads are more than "
                       "%d operators; ask for less",
                       config->layers, config->heads, MO_MAX_OPS);
    return check_sizes(config, err);
}

static mo_status keep_text(zoo *z, const char *text, const char **kept,
                           mo_error *err)
{
    return mo_builder_text(z->builder, text, strlen(text), kept, err);
}

/* Stores the text in out, which is freed. */
static mo_status keep_written(zoo *z, mo_out *out, const char **kept,
                              mo_error *err)
{
    size_t length;
    char *text = mo_out_take(out, &length);
    mo_status status;

    mo_out_abandon(out);
    if (!text)
        return mo_fail_memory(err);
    status = mo_builder_text(z->builder, text, length, kept, err);
    free(text);
    return status;
}

static mo_status keep_shape(zoo *z, const layer_op *part, const char **kept,
                            mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    write_shape(z->config, part, out);
    return keep_written(z, out, kept, err);
}

static mo_status keep_attrs(zoo *z, const layer_op *part, int network_port,
                            const char **kept, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    write_attrs(z->config, part, network_port, out);
    status = keep_written(z, out, kept, err);
    if (status == MO_OK && **kept == '\0')
        *kept = NULL;
    return status;
}

static int find_input(const char *name)
{
    if (!name)
        return NOTHING;
    if (strcmp(name, INPUT_NAME) == 0)
        return LAYER_INPUT;
    for (int i = 0; i < LAYER_OPS; i++)
        if (strcmp(layer_ops[i].name, name) == 0)
            return i;
    return ALL_HEADS;
}

static mo_status make_plan(zoo *z, const layer_op *part, plan *p, mo_error *err)
{
    mo_op *op = &p->op;
    mo_status status;

    op->flops = flops_of(z->config, part);
    op->bytes = bytes_of(z->config, part);
    op->output_bytes = size_bytes(z->config, part->output);
    op->weight_bytes = weight_bytes_of(z->config, part);
    op->workspace_bytes = MO_UNKNOWN;
    op->memory_bytes = op->weight_bytes;
    for (int port = 0; port < MAX_INPUTS; port++)
        p->inputs[port] = find_input(part->inputs[port]);

    if ((status = keep_text(z, part->type, &op->type, err)) != MO_OK ||
        (status = keep_text(z, z->config->dtype, &op->dtype, err)) != MO_OK ||
        (status = keep_shape(z, part, &op->shape, err)) != MO_OK ||
        (status = keep_attrs(z, part, NOTHING, &op->attrs, err)) != MO_OK)
        return status;
    return keep_attrs(z, part, layer_input_port(part), &p->first_attrs, err);
}

static mo_status add_edge(zoo *z, int from, int to, int port, mo_error *err)
{
    mo_builder_edge edge = { .from = from,
                             .to = to,
                             .src_port = MO_PORT_NONE,
                             .dst_port = port,
                             .bytes = MO_UNKNOWN };
    int number;

    return mo_builder_add_edge(z->builder, &edge, &number, err);
}

static mo_status add_edges_of_heads(zoo *z, int to, mo_error *err)
{
    mo_status status = MO_OK;

    for (int head = 0; head < z->config->heads && status == MO_OK; head++)
        status = add_edge(z, z->heads[head], to, head, err);
    return status;
}

static mo_status add_edges(zoo *z, const plan *p, int to, mo_error *err)
{
    mo_status status = MO_OK;

    for (int port = 0; port < MAX_INPUTS && status == MO_OK; port++) {
        int input = p->inputs[port];

        if (input == ALL_HEADS)
            status = add_edges_of_heads(z, to, err);
        else if (input >= 0)
            status = add_edge(z, z->slots[input], to, port, err);
        else if (input == LAYER_INPUT && z->layer_input != NOTHING)
            status = add_edge(z, z->layer_input, to, port, err);
    }
    return status;
}

static mo_status add_op(zoo *z, const char *prefix, int part, mo_error *err)
{
    const plan *p = &z->plans[part];
    char name[NAME_SIZE];
    size_t before = strlen(prefix), length = strlen(layer_ops[part].name);
    const char *kept_name;
    mo_op *op;
    int slot;
    mo_status status;

    memcpy(name, prefix, before);
    memcpy(name + before, layer_ops[part].name, length);
    if ((status = mo_builder_slot(z->builder, name, before + length, 0, &slot,
                                  err)) != MO_OK ||
        (status = mo_builder_define(z->builder, slot, 0, &op, err)) != MO_OK)
        return status;

    kept_name = op->name;
    *op = p->op;
    op->name = kept_name;
    if (z->layer_input == NOTHING)
        op->attrs = p->first_attrs;
    z->slots[part] = slot;
    return add_edges(z, p, slot, err);
}

static mo_status add_head(zoo *z, int layer, int head, mo_error *err)
{
    char prefix[NAME_SIZE];
    mo_status status = MO_OK;

    snprintf(prefix, sizeof prefix, "l%d_h%d_", layer, head);
    for (int part = HEAD_FIRST; part <= HEAD_LAST && status == MO_OK; part++)
        status = add_op(z, prefix, part, err);
    z->heads[head] = z->slots[HEAD_LAST];
    return status;
}

static mo_status add_layer(zoo *z, int layer, mo_error *err)
{
    char prefix[NAME_SIZE];
    mo_status status = MO_OK;
    int part = 0;

    snprintf(prefix, sizeof prefix, "l%d_", layer);
    for (; part < HEAD_FIRST && status == MO_OK; part++)
        status = add_op(z, prefix, part, err);
    for (int head = 0; head < z->config->heads && status == MO_OK; head++)
        status = add_head(z, layer, head, err);
    for (part = HEAD_LAST + 1; part < LAYER_OPS && status == MO_OK; part++)
        status = add_op(z, prefix, part, err);
    z->layer_input = z->slots[LAYER_OPS - 1];
    return status;
}

static mo_status add_all(zoo *z, mo_error *err)
{
    const char *name;
    mo_status status = keep_text(z, z->config->name, &name, err);

    if (status != MO_OK)
        return status;
    mo_builder_name(z->builder, name);
    for (int i = 0; i < LAYER_OPS && status == MO_OK; i++)
        status = make_plan(z, &layer_ops[i], &z->plans[i], err);
    for (int layer = 0; layer < z->config->layers && status == MO_OK; layer++)
        status = add_layer(z, layer, err);
    return status;
}

mo_status mo_zoo_build(const mo_zoo_config *config, mo_graph **graph,
                       mo_error *err)
{
    zoo z = { .config = config, .layer_input = NOTHING };
    mo_status status;

    if ((status = check_config(config, err)) != MO_OK ||
        (status = mo_builder_new(NULL, &z.builder, err)) != MO_OK)
        return status;

    z.heads = calloc((size_t) config->heads, sizeof *z.heads);
    status = z.heads ? add_all(&z, err) : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_builder_finish(z.builder, graph, err);
    if (status == MO_OK)
        mo_operator_resolve(*graph);
    free(z.heads);
    mo_builder_free(z.builder);
    return status;
}
