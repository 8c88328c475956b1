/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/llm_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "graph/dtype.h"
#include "graph/phases.h"
#include "graph/shape.h"
#include "ingest/llm/llm_draft.h"
#include "ingest/operator.h"

enum { NAME_SIZE = 320 };

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

static mo_llm_source *get(mo_llm_maker *m, char name)
{
    return &m->registers[(unsigned char) name];
}

static bool is_written(mo_llm_maker *m, char name)
{
    return get(m, name)->slot >= 0;
}

/* Without a norm the residual stream itself is read. */
static mo_llm_source *get_input(mo_llm_maker *m, char name)
{
    if (name == 'h' && !is_written(m, 'h'))
        return get(m, 'x');
    /* A convolution of the fused projection of a linear attention. */
    if (name == 's' && !is_written(m, 's') &&
        mo_llm_maker_find(m, "ssm_conv1d"))
        return get(m, 'q');
    return get(m, name);
}

/* Adds the tensors that are part of the op of a row to it. */
static mo_status add_parts(const mo_llm_maker *m, const char *role,
                           mo_llm_draft *d, int64_t *weight_bytes)
{
    for (int i = 0; mo_llm_maker_rows(m)[i].role; i++) {
        const mo_llm_row *row = &mo_llm_maker_rows(m)[i];
        mo_llm_tensor *part =
            row->kind == MO_LLM_PART && strcmp(row->with, role) == 0
                ? mo_llm_model_at(m->model, m->layer, i)
                : NULL;

        if (!part)
            continue;
        part->is_used = true;
        if (!mo_int64_add(*weight_bytes, part->bytes, weight_bytes))
            return mo_llm_maker_fail_size(m, part->name);
        if (strcmp(role, "token_embd") != 0)
            d->weight_traffic += (double) part->bytes;
    }
    return MO_OK;
}

/* Reads the registers of a row; a slot occurs once. */
static void read_registers(mo_llm_maker *m, const mo_llm_row *row,
                           mo_llm_draft *d)
{
    for (const char *r = row->reads; *r; r++) {
        const mo_llm_source *from = get_input(m, *r);
        bool is_new = from->slot >= 0;

        for (int i = 0; i < d->n_sources; i++)
            is_new = is_new && d->sources[i].slot != from->slot;
        if (is_new)
            d->sources[d->n_sources++] = *from;
    }
}

static mo_status keep(const mo_llm_maker *m, const char *text,
                      const char **kept)
{
    *kept = NULL;
    return text && *text
               ? mo_builder_text(m->builder, text, strlen(text), kept, m->err)
               : MO_OK;
}

static mo_status name_op(const mo_llm_maker *m, const mo_llm_row *row,
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
static mo_status set_group(const mo_llm_maker *m, mo_op *op)
{
    char name[NAME_SIZE];

    if (!m->options->whole_layers || m->layer == MO_LLM_NO_LAYER)
        return MO_OK;
    snprintf(name, sizeof name, "%s%d", m->model->layer_prefix, m->layer);
    return keep(m, name, &op->colocate);
}

/* Adds the bytes of activations read and written. */
static double activation_bytes(const mo_llm_maker *m, const mo_llm_draft *d)
{
    double elements = (double) d->width;

    for (int i = 0; i < d->n_sources; i++)
        elements += (double) d->sources[i].width;
    return elements * (double) d->tokens * m->element_bytes;
}

static mo_status add_op(mo_llm_maker *m, const mo_llm_row *row, mo_llm_draft *d,
                        const char *name)
{
    int64_t weights = d->tensor ? d->tensor->bytes : 0, memory, output;
    mo_op *op;
    int slot;
    mo_status status = add_parts(m, row->role, d, &weights);

    if (status == MO_OK && (!mo_int64_add(weights, d->state_bytes, &memory) ||
                            !mo_int64_mul(d->width, d->tokens, &output) ||
                            output > MO_MAX_ELEMENTS))
        return mo_llm_maker_fail_size(m, name);
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
    *get(m, row->writes) = (mo_llm_source){ slot, d->width };
    return status;
}

/* Whether a row without a tensor of its own is run. */
static bool has_operands(mo_llm_maker *m, const mo_llm_row *row)
{
    int n = 0;

    switch (row->kind) {
    case MO_LLM_SCAN:
        return mo_llm_maker_find(m, row->with) != NULL;
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
        return is_written(m, 'q') && !(mo_llm_maker_find(m, "attn_qkv") &&
                                       mo_llm_maker_find(m, "ssm_a"));
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
static bool is_run(mo_llm_maker *m, const mo_llm_row *row,
                   const mo_llm_tensor *tensor)
{
    if (needs_tensor(row->kind) != (tensor != NULL))
        return false;
    if (strcmp(row->role, "post_attention_norm") == 0)
        return (row->with != NULL) ==
               (mo_llm_maker_find(m, "ffn_norm") != NULL);
    if (tensor)
        return row->kind == MO_LLM_EMBED ||
               get_input(m, row->reads[0])->slot >= 0;
    return has_operands(m, row);
}

static mo_status run_row(mo_llm_maker *m, int number)
{
    const mo_llm_row *row = &mo_llm_maker_rows(m)[number];
    mo_llm_draft d = { .tensor = mo_llm_model_at(m->model, m->layer, number),
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
    status = mo_llm_draft_row(m, row, &d);
    if (status == MO_OK)
        status = name_op(m, row, d.tensor, name);
    return status == MO_OK ? add_op(m, row, &d, name) : status;
}

static mo_status run_rows(mo_llm_maker *m, int first, int end)
{
    mo_status status = MO_OK;

    for (int i = first;
         i < end && mo_llm_maker_rows(m)[i].role && status == MO_OK; i++)
        status = run_row(m, i);
    return status;
}

static mo_status run_layers(mo_llm_maker *m)
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
static mo_status add_tied_head(mo_llm_maker *m)
{
    static const mo_llm_row row = { "output", MO_LLM_LINEAR, "x", 'x', NULL };
    mo_llm_tensor *table = mo_llm_maker_find(m, "token_embd");
    mo_llm_draft d = { .tensor = table, .tokens = 1 };
    mo_status status;
    mo_op *embedding;

    if (mo_llm_maker_find(m, "output") || !table)
        return MO_OK;
    read_registers(m, &row, &d);
    d.weight_traffic = (double) table->bytes;
    status = mo_llm_draft_row(m, &row, &d);
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
    mo_llm_maker m = { .model = model,
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
