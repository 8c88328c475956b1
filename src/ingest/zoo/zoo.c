/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the paper's transformer networks, and their generator. */
#include "ingest/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/out.h"
#include "graph/build.h"
#include "ingest/zoo/transformer_layer.h"
#include "ingest/operator.h"

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
    const char *first_attrs;       /* instead of op's, in the first layer */
    int inputs[MO_ZOO_MAX_INPUTS]; /* parts, by port */
} plan;

typedef struct zoo {
    const mo_zoo_config *config;
    mo_builder *builder;
    plan plans[MO_ZOO_LAYER_OPS];
    int slots[MO_ZOO_LAYER_OPS]; /* of the layer and the head being built */
    int *heads;                  /* slots of the last part of all heads */
    int layer_input;             /* slot, or NOTHING in the first layer */
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
    int in_head = MO_ZOO_HEAD_LAST - MO_ZOO_HEAD_FIRST + 1;

    return MO_ZOO_LAYER_OPS - in_head + (int64_t) in_head * config->heads;
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
    return mo_zoo_check_sizes(config, err);
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

static mo_status keep_shape(zoo *z, const mo_zoo_layer_op *part,
                            const char **kept, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    mo_zoo_write_shape(z->config, part, out);
    return keep_written(z, out, kept, err);
}

static mo_status keep_attrs(zoo *z, const mo_zoo_layer_op *part,
                            int network_port, const char **kept, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    mo_zoo_write_attrs(z->config, part, network_port, out);
    status = keep_written(z, out, kept, err);
    if (status == MO_OK && **kept == '\0')
        *kept = NULL;
    return status;
}

static int find_input(const char *name)
{
    if (!name)
        return NOTHING;
    if (strcmp(name, MO_ZOO_LAYER_INPUT) == 0)
        return LAYER_INPUT;
    for (int i = 0; i < MO_ZOO_LAYER_OPS; i++)
        if (strcmp(mo_zoo_layer_ops[i].name, name) == 0)
            return i;
    return ALL_HEADS;
}

static mo_status make_plan(zoo *z, const mo_zoo_layer_op *part, plan *p,
                           mo_error *err)
{
    mo_op *op = &p->op;
    mo_status status;

    op->flops = mo_zoo_flops(z->config, part);
    op->bytes = mo_zoo_bytes(z->config, part);
    op->output_bytes = mo_zoo_output_bytes(z->config, part);
    op->weight_bytes = mo_zoo_weight_bytes(z->config, part);
    op->workspace_bytes = MO_UNKNOWN;
    op->memory_bytes = op->weight_bytes;
    for (int port = 0; port < MO_ZOO_MAX_INPUTS; port++)
        p->inputs[port] = find_input(part->inputs[port]);

    if ((status = keep_text(z, part->type, &op->type, err)) != MO_OK ||
        (status = keep_text(z, z->config->dtype, &op->dtype, err)) != MO_OK ||
        (status = keep_shape(z, part, &op->shape, err)) != MO_OK ||
        (status = keep_attrs(z, part, NOTHING, &op->attrs, err)) != MO_OK)
        return status;
    return keep_attrs(z, part, mo_zoo_layer_input_port(part), &p->first_attrs,
                      err);
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

    for (int port = 0; port < MO_ZOO_MAX_INPUTS && status == MO_OK; port++) {
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
    size_t before = strlen(prefix),
           length = strlen(mo_zoo_layer_ops[part].name);
    const char *kept_name;
    mo_op *op;
    int slot;
    mo_status status;

    memcpy(name, prefix, before);
    memcpy(name + before, mo_zoo_layer_ops[part].name, length);
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
    for (int part = MO_ZOO_HEAD_FIRST;
         part <= MO_ZOO_HEAD_LAST && status == MO_OK; part++)
        status = add_op(z, prefix, part, err);
    z->heads[head] = z->slots[MO_ZOO_HEAD_LAST];
    return status;
}

static mo_status add_layer(zoo *z, int layer, mo_error *err)
{
    char prefix[NAME_SIZE];
    mo_status status = MO_OK;
    int part = 0;

    snprintf(prefix, sizeof prefix, "l%d_", layer);
    for (; part < MO_ZOO_HEAD_FIRST && status == MO_OK; part++)
        status = add_op(z, prefix, part, err);
    for (int head = 0; head < z->config->heads && status == MO_OK; head++)
        status = add_head(z, layer, head, err);
    for (part = MO_ZOO_HEAD_LAST + 1;
         part < MO_ZOO_LAYER_OPS && status == MO_OK; part++)
        status = add_op(z, prefix, part, err);
    z->layer_input = z->slots[MO_ZOO_LAYER_OPS - 1];
    return status;
}

static mo_status add_all(zoo *z, mo_error *err)
{
    const char *name;
    mo_status status = keep_text(z, z->config->name, &name, err);

    if (status != MO_OK)
        return status;
    mo_builder_name(z->builder, name);
    for (int i = 0; i < MO_ZOO_LAYER_OPS && status == MO_OK; i++)
        status = make_plan(z, &mo_zoo_layer_ops[i], &z->plans[i], err);
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
