/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/llm_graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "graph/build.h"
#include "graph/dtype.h"
#include "graph/phases.h"
#include "graph/shape.h"
#include "ingest/llm/rows.h"
#include "ingest/operator.h"

enum {
    MAX_SOURCES = 8,
    NAME_SIZE = 320,
    SCAN_FLOPS = 6, /* for each element of the state */
    POINT_FLOPS = 5 /* for each element of a norm, activation, softmax */
};

/* An op that others read. */
typedef struct source {
    int slot;
    int64_t width; /* elements of its output for each token */
} source;

typedef struct maker {
    mo_llm_model *model;
    const mo_llm_options *options;
    mo_builder *builder;
    int64_t tokens;        /* that are computed */
    int64_t past;          /* those before, which are in the cache */
    double element_bytes;  /* of activations */
    source registers[256]; /* slot -1: empty */
    int layer;
    mo_error *err;
} maker;

/* An op to be added. */
typedef struct draft {
    const char *type;
    mo_llm_tensor *tensor; /* or NULL */
    char shape[128], attrs[320];
    int64_t width, tokens;
    double flops, traffic; /* beside activations and weights */
    double weight_traffic;
    int64_t state_bytes;
    source sources[MAX_SOURCES];
    int n_sources;
} draft;

static const char *const types[] = {
    [MO_LLM_EMBED] = "Gather",
    [MO_LLM_LINEAR] = "MatMul",
    [MO_LLM_HEADS] = "MatMul",
    [MO_LLM_EXPERTS] = "MatMul",
    [MO_LLM_NORM] = "RMS",
    [MO_LLM_CONV] = "CausalConvolution",
    [MO_LLM_SCAN] = "SelectiveScan",
    [MO_LLM_ROPE] = "RoPE",
    [MO_LLM_ATTENTION] = "ScaledDotProductAttention",
    [MO_LLM_ACT] = "Swish",
    [MO_LLM_TOPK] = "TopK",
    [MO_LLM_SUM] = "ReduceSum",
    [MO_LLM_ADD] = "Add",
};

static mo_status fail_size(const maker *m, const char *name)
{
    return mo_fail_at(m->err, MO_E_LIMIT, m->model->file, 0,
                      "op '%s' is too large", name);
}

static const mo_llm_row *rows_of(const maker *m)
{
    return m->layer == MO_LLM_NO_LAYER ? mo_llm_model_rows : mo_llm_layer_rows;
}

static mo_llm_tensor *find(const maker *m, const char *role)
{
    return mo_llm_model_find(m->model, m->layer, role);
}

static source *get(maker *m, char name)
{
    return &m->registers[(unsigned char) name];
}

static bool is_written(maker *m, char name)
{
    return get(m, name)->slot >= 0;
}

/* Without a norm the residual stream itself is read. */
static source *get_input(maker *m, char name)
{
    if (name == 'h' && !is_written(m, 'h'))
        return get(m, 'x');
    /* A convolution of the fused projection of a linear attention. */
    if (name == 's' && !is_written(m, 's') && find(m, "ssm_conv1d"))
        return get(m, 'q');
    return get(m, name);
}

/* Pairs of a token and one that it attends to, itself included. */
static double count_pairs(const maker *m)
{
    int64_t window = m->model->layers[m->layer].window, last;
    double full;

    last = m->past + m->tokens;
    if (window == 0 || window >= last)
        window = last;
    /* Tokens up to the window have as many as there are; others all of it. */
    full = (double) (last - mo_max_i64(m->past, window));
    last = mo_min_i64(last, window);
    if (last <= m->past)
        return full * (double) window;
    return full * (double) window +
           ((double) (last - m->past)) * ((double) (last + m->past + 1)) / 2;
}

static void set_product(draft *d, int64_t batch, int64_t rows)
{
    const mo_llm_tensor *t = d->tensor;

    if (batch > 1) {
        snprintf(d->shape, sizeof d->shape, "%" PRId64 ",%" PRId64 ",%" PRId64,
                 batch, rows, t->dims[1]);
        snprintf(d->attrs, sizeof d->attrs,
                 "{\"weights\":\"1:%" PRId64 ",%" PRId64 ",%" PRId64 "\"}",
                 batch, t->dims[0], t->dims[1]);
    } else {
        snprintf(d->attrs, sizeof d->attrs,
                 "{\"weights\":\"1:%" PRId64 ",%" PRId64 "\"}", t->dims[0],
                 t->dims[1]);
    }
    d->flops = 2.0 * (double) t->dims[0] * (double) t->dims[1] * (double) rows *
               (double) batch;
}

/* Of all experts the chosen ones are read: with many tokens all of them. */
static mo_status draft_experts(const maker *m, draft *d)
{
    int64_t all = d->tensor->dims[2];
    int64_t used = m->model->experts_used, chosen;

    if (used <= 0 || used > all)
        return mo_fail_at(m->err, MO_E_INPUT, m->model->file, 0,
                          "'%s' has %" PRId64 " experts, but the number that "
                          "a token uses is %" PRId64,
                          d->tensor->name, all, used);
    if (!mo_int64_mul(used, m->tokens, &chosen) ||
        !mo_int64_mul(used, d->tensor->dims[1], &d->width))
        return fail_size(m, d->tensor->name);
    set_product(d, mo_min_i64(all, chosen),
                mo_ceil_div(chosen, mo_min_i64(all, chosen)));
    d->flops = 2.0 * (double) chosen * (double) d->tensor->dims[0] *
               (double) d->tensor->dims[1];
    d->weight_traffic *= (double) mo_min_i64(all, chosen) / (double) all;
    return MO_OK;
}

/* Keys and values come from the cache, on the ports of attention's own. */
static mo_status draft_attention(maker *m, draft *d)
{
    const mo_llm_layer *layer = &m->model->layers[m->layer];
    const mo_llm_tensor *out = find(m, "attn_output");
    const mo_llm_tensor *latent = find(m, "attn_v_b");
    int64_t cache, state, queries, kept = m->options->context;
    double pairs = count_pairs(m), read = pairs;
    mo_status status = mo_llm_cache_bytes(m->model, m->layer, m->options->cache,
                                          &cache, &state, m->err);

    if (status != MO_OK)
        return status;
    queries = d->sources[0].width;
    if (mo_int64_mul(layer->heads, m->model->key_length, &d->width) &&
        d->width > 0 && !latent)
        queries = mo_min_i64(queries, d->width);
    d->width = queries;
    if (latent && !mo_int64_mul(latent->dims[0], latent->dims[2], &d->width))
        return fail_size(m, latent->name);
    if (out && !latent)
        d->width = out->dims[0];
    d->flops = pairs * (2.0 * (double) queries + 2.0 * (double) d->width +
                        POINT_FLOPS * (double) layer->heads);
    /* The queries of a prompt share what they read. */
    if (m->tokens > 1)
        read = (double) (m->past + m->tokens);
    d->traffic = (double) cache * read;
    if (layer->window > 0)
        kept = mo_min_i64(kept, layer->window);
    if (!mo_int64_mul(cache, kept, &d->state_bytes))
        return fail_size(m, "attn");
    if (layer->kv_heads > 0 && layer->heads > 0 &&
        queries % layer->heads == 0) {
        int64_t keys = (int64_t) (m->tokens > 1 ? read : pairs);
        char cached[96];

        snprintf(cached, sizeof cached, "1,%" PRId64 ",%" PRId64 ",%" PRId64,
                 layer->kv_heads, keys, queries / layer->heads);
        snprintf(d->attrs, sizeof d->attrs,
                 "{\"causal\":%s,\"weights\":\"1:%s;2:%s\"}",
                 m->tokens > 1 ? "true" : "false", cached, cached);
    }
    return MO_OK;
}

static mo_status draft_rope(const maker *m, draft *d)
{
    const mo_llm_layer *layer = &m->model->layers[m->layer];

    d->width = d->sources[0].width;
    if (find(m, "attn_qkv") &&
        !mo_int64_mul(layer->heads, m->model->key_length, &d->width))
        return fail_size(m, "attn_rope");
    if (layer->heads > 0 && d->width % layer->heads == 0)
        snprintf(d->shape, sizeof d->shape,
                 "1,%" PRId64 ",%" PRId64 ",%" PRId64, layer->heads, d->tokens,
                 d->width / layer->heads);
    return MO_OK;
}

/* States are read and written once for all tokens. */
static mo_status draft_state(const maker *m, draft *d)
{
    int64_t cache;
    mo_status status = mo_llm_cache_bytes(m->model, m->layer, m->options->cache,
                                          &cache, &d->state_bytes, m->err);

    d->traffic = 2.0 * (double) d->state_bytes;
    return status;
}

static mo_status draft_scan(const maker *m, draft *d)
{
    const mo_llm_tensor *out = find(m, "ssm_out");

    d->width = out ? out->dims[0] : d->sources[0].width;
    d->flops = SCAN_FLOPS * (double) d->width * (double) m->model->ssm_state *
               (double) m->tokens;
    return draft_state(m, d);
}

/* Adds the tensors that are part of the op of a row to it. */
static mo_status add_parts(const maker *m, const char *role, draft *d,
                           int64_t *weight_bytes)
{
    for (int i = 0; rows_of(m)[i].role; i++) {
        const mo_llm_row *row = &rows_of(m)[i];
        mo_llm_tensor *part =
            row->kind == MO_LLM_PART && strcmp(row->with, role) == 0
                ? mo_llm_model_at(m->model, m->layer, i)
                : NULL;

        if (!part)
            continue;
        part->is_used = true;
        if (!mo_int64_add(*weight_bytes, part->bytes, weight_bytes))
            return fail_size(m, part->name);
        if (strcmp(role, "token_embd") != 0)
            d->weight_traffic += (double) part->bytes;
    }
    return MO_OK;
}

static mo_status draft_row(maker *m, const mo_llm_row *row, draft *d)
{
    const mo_llm_tensor *t = d->tensor, *next;
    double elements;

    d->width = d->n_sources > 0 ? d->sources[0].width : 0;
    switch (row->kind) {
    case MO_LLM_EMBED:
        d->width = t->dims[0];
        d->weight_traffic =
            (double) t->bytes / (double) t->dims[1] * (double) m->tokens;
        return MO_OK;
    case MO_LLM_LINEAR:
        d->width = t->dims[1];
        set_product(d, 1, d->tokens);
        return MO_OK;
    case MO_LLM_HEADS:
        set_product(d, t->dims[2], d->tokens);
        return mo_int64_mul(t->dims[1], t->dims[2], &d->width)
                   ? MO_OK
                   : fail_size(m, t->name);
    case MO_LLM_EXPERTS:
        return draft_experts(m, d);
    case MO_LLM_ATTENTION:
        return draft_attention(m, d);
    case MO_LLM_SCAN:
        return draft_scan(m, d);
    case MO_LLM_ROPE:
        return draft_rope(m, d);
    case MO_LLM_CONV:
        d->flops = 2.0 * (double) t->elements * (double) m->tokens;
        d->width = t->dims[1];
        return find(m, "ssm_a") ? MO_OK : draft_state(m, d);
    case MO_LLM_ACT:
        next = find(m, row->with);
        if (next)
            d->width = next->dims[0];
        if (next && next->dims[2] > 1 &&
            !mo_int64_mul(d->width, m->model->experts_used, &d->width))
            return fail_size(m, next->name);
        break;
    case MO_LLM_TOPK:
        d->width = m->model->experts_used;
        break;
    case MO_LLM_SUM:
        if (m->model->experts_used > 0)
            d->width /= m->model->experts_used;
        break;
    case MO_LLM_ADD:
    case MO_LLM_NORM:
    case MO_LLM_PART:
        break;
    }
    elements = d->n_sources > 0 ? (double) d->sources[0].width : 0;
    d->flops = (row->kind == MO_LLM_ADD ? d->n_sources - 1 : POINT_FLOPS) *
               elements * (double) d->tokens;
    return MO_OK;
}

/* Reads the registers of a row; a slot occurs once. */
static void read_registers(maker *m, const mo_llm_row *row, draft *d)
{
    for (const char *r = row->reads; *r; r++) {
        const source *from = get_input(m, *r);
        bool is_new = from->slot >= 0;

        for (int i = 0; i < d->n_sources; i++)
            is_new = is_new && d->sources[i].slot != from->slot;
        if (is_new)
            d->sources[d->n_sources++] = *from;
    }
}

static mo_status keep(const maker *m, const char *text, const char **kept)
{
    *kept = NULL;
    return text && *text
               ? mo_builder_text(m->builder, text, strlen(text), kept, m->err)
               : MO_OK;
}

static mo_status name_op(const maker *m, const mo_llm_row *row,
                         const mo_llm_tensor *tensor, char *name)
{
    int n;

    if (tensor)
        n = snprintf(name, NAME_SIZE, "%s", tensor->name);
    else if (m->layer == MO_LLM_NO_LAYER)
        n = snprintf(name, NAME_SIZE, "%s", row->role);
    else
        n = snprintf(name, NAME_SIZE, "%s%d.%s", m->model->layer_prefix,
                     m->layer, row->role);
    return n < NAME_SIZE ? MO_OK
                         : mo_fail_at(m->err, MO_E_LIMIT, m->model->file, 0,
                                      "a tensor has a name of %d bytes", n);
}

/* Sets the group of an op whose layer is on one device. */
static mo_status set_group(const maker *m, mo_op *op)
{
    char name[NAME_SIZE];

    if (!m->options->whole_layers || m->layer == MO_LLM_NO_LAYER)
        return MO_OK;
    snprintf(name, sizeof name, "%s%d", m->model->layer_prefix, m->layer);
    return keep(m, name, &op->colocate);
}

/* Adds the bytes of activations read and written. */
static double activation_bytes(const maker *m, const draft *d)
{
    double elements = (double) d->width;

    for (int i = 0; i < d->n_sources; i++)
        elements += (double) d->sources[i].width;
    return elements * (double) d->tokens * m->element_bytes;
}

static mo_status add_op(maker *m, const mo_llm_row *row, draft *d,
                        const char *name)
{
    int64_t weights = d->tensor ? d->tensor->bytes : 0, memory, output;
    mo_op *op;
    int slot;
    mo_status status = add_parts(m, row->role, d, &weights);

    if (status == MO_OK && (!mo_int64_add(weights, d->state_bytes, &memory) ||
                            !mo_int64_mul(d->width, d->tokens, &output) ||
                            output > MO_MAX_ELEMENTS))
        return fail_size(m, name);
    if (status == MO_OK)
        status =
            mo_builder_slot(m->builder, name, strlen(name), 0, &slot, m->err);
    if (status == MO_OK)
        status = mo_builder_define(m->builder, slot, 0, &op, m->err);
    if (status != MO_OK)
        return status;
    if (!d->shape[0])
        snprintf(d->shape, sizeof d->shape, "1,%" PRId64 ",%" PRId64, d->tokens,
                 d->width);
    op->weight_bytes = weights;
    op->memory_bytes = memory;
    op->flops = d->flops;
    op->bytes = activation_bytes(m, d) + d->weight_traffic + d->traffic;
    op->output_bytes = (int64_t) ((double) output * m->element_bytes);
    if ((status = keep(m, types[row->kind], &op->type)) != MO_OK ||
        (status = keep(m, m->model->dtype, &op->dtype)) != MO_OK ||
        (status = keep(m, d->attrs, &op->attrs)) != MO_OK ||
        (status = keep(m, d->shape, &op->shape)) != MO_OK ||
        (status = set_group(m, op)) != MO_OK)
        return status;
    for (int i = 0; i < d->n_sources && status == MO_OK; i++) {
        /* New keys and values go behind the cached ones. */
        int port = row->kind == MO_LLM_ATTENTION && i > 0 ? i + 2 : i;
        mo_builder_edge edge = { .from = d->sources[i].slot,
                                 .to = slot,
                                 .src_port = MO_PORT_NONE,
                                 .dst_port = port,
                                 .bytes = MO_UNKNOWN };

        status = mo_builder_add_edge(m->builder, &edge, NULL, m->err);
    }
    *get(m, row->writes) = (source){ slot, d->width };
    return status;
}

/* Whether a row without a tensor of its own is run. */
static bool has_operands(maker *m, const mo_llm_row *row)
{
    int n = 0;

    switch (row->kind) {
    case MO_LLM_SCAN:
        return find(m, row->with) != NULL;
    case MO_LLM_ADD: /* beside x */
        for (const char *r = row->reads + 1; *r; r++)
            n += is_written(m, *r);
        return n > 0;
    case MO_LLM_ACT:
        if (row->writes == 'a')
            return is_written(m, 'a') && is_written(m, 'z');
        return is_written(m, row->reads[0]);
    case MO_LLM_ROPE:
    case MO_LLM_ATTENTION:
        return is_written(m, 'q') && !(find(m, "attn_qkv") && find(m, "ssm_a"));
    default:
        return is_written(m, row->reads[0]);
    }
}

static bool needs_tensor(mo_llm_kind kind)
{
    return kind == MO_LLM_EMBED || kind == MO_LLM_LINEAR ||
           kind == MO_LLM_HEADS || kind == MO_LLM_EXPERTS ||
           kind == MO_LLM_NORM || kind == MO_LLM_CONV;
}

/* The norm behind attention is that before the feed-forward part where this
 * has none. */
static bool is_run(maker *m, const mo_llm_row *row, const mo_llm_tensor *tensor)
{
    if (needs_tensor(row->kind) != (tensor != NULL))
        return false;
    if (strcmp(row->role, "post_attention_norm") == 0)
        return (row->with != NULL) == (find(m, "ffn_norm") != NULL);
    if (tensor)
        return row->kind == MO_LLM_EMBED ||
               get_input(m, row->reads[0])->slot >= 0;
    return has_operands(m, row);
}

static mo_status run_row(maker *m, int number)
{
    const mo_llm_row *row = &rows_of(m)[number];
    draft d = { .tensor = mo_llm_model_at(m->model, m->layer, number),
                .tokens = m->tokens };
    char name[NAME_SIZE];
    mo_status status;

    if (row->kind == MO_LLM_PART || !is_run(m, row, d.tensor))
        return MO_OK;
    /* The next token follows from the last one. */
    if (m->layer == MO_LLM_NO_LAYER && number >= MO_LLM_FIRST_TAIL_ROW)
        d.tokens = 1;
    read_registers(m, row, &d);
    if (d.tensor) {
        d.tensor->is_used = true;
        d.weight_traffic = (double) d.tensor->bytes;
    }
    status = draft_row(m, row, &d);
    if (status == MO_OK)
        status = name_op(m, row, d.tensor, name);
    return status == MO_OK ? add_op(m, row, &d, name) : status;
}

static mo_status run_rows(maker *m, int first, int end)
{
    mo_status status = MO_OK;

    for (int i = first; i < end && rows_of(m)[i].role && status == MO_OK; i++)
        status = run_row(m, i);
    return status;
}

static mo_status run_layers(maker *m)
{
    mo_status status = MO_OK;

    for (m->layer = 0; m->layer < m->model->n_layers && status == MO_OK;
         m->layer++) {
        for (int i = 0; i < 256; i++)
            if (i != 'x')
                m->registers[i].slot = -1;
        status = run_rows(m, 0, MO_LLM_MAX_ROWS);
    }
    m->layer = MO_LLM_NO_LAYER;
    return status;
}

/* Without a head of its own the model uses the table of the embedding. */
static mo_status add_tied_head(maker *m)
{
    static const mo_llm_row row = { "output", MO_LLM_LINEAR, "x", 'x', NULL };
    mo_llm_tensor *table = find(m, "token_embd");
    draft d = { .tensor = table, .tokens = 1 };
    mo_status status;
    mo_op *embedding;

    if (find(m, "output") || !table)
        return MO_OK;
    read_registers(m, &row, &d);
    d.weight_traffic = (double) table->bytes;
    status = draft_row(m, &row, &d);
    if (status == MO_OK)
        status = add_op(m, &row, &d, "output");
    if (status != MO_OK)
        return status;
    /* The table is in the memory of the head alone, on one device with it. */
    embedding =
        mo_builder_op(m->builder, mo_builder_find(m->builder, table->name,
                                                  strlen(table->name)));
    embedding->memory_bytes -= table->bytes;
    embedding->weight_bytes -= table->bytes;
    status = keep(m, table->name, &embedding->colocate);
    mo_builder_op(m->builder, get(m, 'x')->slot)->colocate =
        embedding->colocate;
    return status;
}

static void list_unused(mo_llm_model *model)
{
    for (int layer = MO_LLM_NO_LAYER; layer < model->n_layers; layer++) {
        const mo_llm_row *rows =
            layer == MO_LLM_NO_LAYER ? mo_llm_model_rows : mo_llm_layer_rows;

        for (int i = 0; rows[i].role; i++) {
            const mo_llm_tensor *t = mo_llm_model_at(model, layer, i);

            if (t && !t->is_used)
                mo_llm_model_add_unknown(model, t->name);
        }
    }
}

static mo_status check_understood(mo_llm_model *model, mo_error *err)
{
    list_unused(model);
    if (model->n_unknown > 0)
        return mo_fail_at(err, MO_E_SUPPORT, model->file, 0,
                          "the architecture '%.60s' has tensors that are not "
                          "understood: %s",
                          model->architecture, model->unknown);
    return MO_OK;
}

static mo_status check_embedding(const mo_llm_model *model, mo_error *err)
{
    if (mo_llm_model_find(model, MO_LLM_NO_LAYER, "token_embd"))
        return MO_OK;
    return mo_fail_at(err, MO_E_SUPPORT, model->file, 0,
                      "has no embedding of tokens; only decoders are read%s%s",
                      model->n_unknown > 0 ? "; tensors not understood: " : "",
                      model->unknown);
}

/* Makes the graph of a number of tokens behind others that are in the cache. */
static mo_status make_run(mo_llm_model *model, const mo_llm_options *options,
                          int64_t past, int64_t tokens, mo_graph **graph,
                          mo_error *err)
{
    maker m = { .model = model,
                .options = options,
                .layer = MO_LLM_NO_LAYER,
                .tokens = tokens,
                .past = past,
                .element_bytes = mo_dtype_bits(model->dtype) / 8.0,
                .err = err };
    mo_status status = check_embedding(model, err);
    const char *name;

    for (int i = 0; i < 256; i++)
        m.registers[i].slot = -1;
    if (status == MO_OK)
        status = mo_builder_new(model->file, &m.builder, err);
    if (status == MO_OK)
        status = run_rows(&m, 0, MO_LLM_FIRST_TAIL_ROW);
    if (status == MO_OK)
        status = run_layers(&m);
    if (status == MO_OK)
        status = run_rows(&m, MO_LLM_FIRST_TAIL_ROW, MO_LLM_MAX_ROWS);
    if (status == MO_OK)
        status = add_tied_head(&m);
    if (status == MO_OK)
        status = check_understood(model, err);
    if (status == MO_OK)
        status = keep(&m, model->title, &name);
    if (status == MO_OK) {
        mo_builder_name(m.builder, name);
        status = mo_builder_finish(m.builder, graph, err);
    }
    if (status == MO_OK)
        mo_operator_resolve(*graph);
    mo_builder_free(m.builder);
    return status;
}

static mo_status make_workload(mo_llm_model *model,
                               const mo_llm_options *options, mo_graph **graph,
                               mo_error *err)
{
    mo_phase phases[] = { { .name = "prefill", .weight = 1 },
                          { .name = "decode", .weight = options->generate } };
    int64_t past = options->prompt + options->generate / 2;
    mo_status status =
        make_run(model, options, 0, options->prompt, &phases[0].graph, err);

    if (status == MO_OK)
        status =
            make_run(model, options, mo_min_i64(past, options->context) - 1, 1,
                     &phases[1].graph, err);
    if (status == MO_OK)
        status = mo_phases_compose(model->title, phases, 2, graph, err);
    if (status != MO_OK) {
        mo_graph_free(phases[0].graph);
        mo_graph_free(phases[1].graph);
    }
    return status;
}

mo_status mo_llm_graph_make(mo_llm_model *model, const mo_llm_options *options,
                            mo_graph **graph, mo_error *err)
{
    if (options->generate > 0)
        return make_workload(model, options, graph, err);
    if (options->prompt > 0)
        return make_run(model, options, 0, options->prompt, graph, err);
    return make_run(model, options, options->context - 1, 1, graph, err);
}
