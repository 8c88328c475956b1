/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A phase of a decoder as operators that the executor has.
 */
#include "ingest/llm/decoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph.h"
#include "ingest/llm/decoder_internal.h"
#include "ingest/operator.h"

/* Returns the residual stream behind the layer.  Without a norm of its own the
 * feed-forward part has the one behind attention. */
static int add_layer(mo_llm_run *m, int x, mo_shape shape)
{
    bool has_ffn_norm = mo_llm_run_find(m, "ffn_norm", ".weight");
    int h = mo_llm_run_add_attention(
        m, mo_llm_run_add_norm(m, "attn_norm", x, shape));

    h = mo_llm_run_add_linear(m, "attn_output", h);
    if (has_ffn_norm)
        h = mo_llm_run_add_optional_norm(m, "post_attention_norm", h, shape);
    x = mo_llm_run_add_f32(m, "attn_add", NULL, "Add", shape, x, h);
    h = mo_llm_run_add_norm(
        m, has_ffn_norm ? "ffn_norm" : "post_attention_norm", x, shape);
    h = mo_llm_run_add_feed_forward(m, h);
    h = mo_llm_run_add_optional_norm(m, "post_ffw_norm", h, shape);
    return mo_llm_run_add_f32(m, "ffn_add", NULL, "Add", shape, x, h);
}

/*
 * The ends.
 */

/* Rows of the table, in f32. */
static int add_embedding(mo_llm_run *m, mo_shape shape)
{
    mo_llm_weight *w = mo_llm_run_find_weight(m, "token_embd");
    bool is_f32 = strcmp(w->type->name, "f32") == 0;
    int ids = mo_llm_run_add(
        m, &(mo_llm_run_op){ .part = "ids",
                             .type = "Parameter",
                             .dtype = "i64",
                             .shape = MO_LLM_SHAPE(1, m->tokens) });
    char attrs[MO_LLM_RUN_FORMAT];
    mo_llm_run_op rows = { .role = "token_embd",
                           .part = "rows",
                           .dtype = mo_llm_run_is_quantized(w) ? "u8"
                                                               : w->type->name,
                           .shape = shape };
    int x;

    if (mo_llm_run_is_quantized(w))
        rows.shape.dims[2] = w->bytes / w->dims[1];
    x = mo_llm_run_add_gather(m, &rows, mo_llm_run_add_weight(m, w), ids, 0);
    if (!is_f32)
        x = mo_llm_run_add(
            m, &(mo_llm_run_op){ .role = "token_embd",
                                 .type = mo_llm_run_is_quantized(w)
                                             ? "DequantizeBlocks"
                                             : "Convert",
                                 .attrs = mo_llm_run_block_format(w, attrs),
                                 .shape = shape,
                                 .in = { x },
                                 .n_in = 1 });
    if (m->decoder->embedding_scale == 1)
        return x;
    return mo_llm_run_add_f32(
        m, "token_embd", "scaled", "Multiply", shape, x,
        mo_llm_run_add_number(m, "embedding_scale", "f32",
                              m->decoder->embedding_scale));
}

/* Logits of the token behind the last one. */
static void add_head(mo_llm_run *m, int x, int64_t width)
{
    const char *own =
        mo_llm_run_find(m, "output", ".weight") ? "output" : "token_embd";
    const mo_shape last = MO_LLM_SHAPE(1, 1, width);
    int logits;

    if (m->tokens > 1)
        x = mo_llm_run_add_gather(
            m,
            &(mo_llm_run_op){
                .role = "output_norm", .part = "last", .shape = last },
            x,
            mo_llm_run_add_number(m, "last", "i64", (double) (m->tokens - 1)),
            1);
    x = mo_llm_run_add_norm(m, "output_norm", x, last);
    if (mo_llm_run_find_weight(m, own)->dims[1] !=
        mo_llm_run_find_weight(m, "token_embd")->dims[1])
        mo_llm_run_fail(m, MO_E_INPUT,
                        "tensors 'output.weight' and 'token_embd.weight' have "
                        "unequal numbers of tokens");
    logits = mo_llm_run_add_product(m, "output", mo_llm_run_find_weight(m, own),
                                    x, 1);
    if (m->status == MO_OK)
        mo_builder_op(m->builder, logits)->is_output = true;
}

static mo_status make_phase(mo_llm_decoder *decoder,
                            const mo_llm_options *options, int64_t tokens,
                            mo_graph **graph, mo_error *err)
{
    mo_llm_run m = { .decoder = decoder,
                     .options = options,
                     .head = decoder->is_latent ? decoder->rotated
                                                : decoder->model->key_length,
                     .tokens = tokens,
                     .layer = MO_LLM_NO_LAYER,
                     .err = err };
    mo_shape shape;
    int x;

    m.status = mo_builder_new(decoder->model->file, &m.builder, err);
    mo_llm_run_add_positions(&m);
    shape = MO_LLM_SHAPE(1, m.tokens,
                         mo_llm_run_find_weight(&m, "token_embd")->dims[0]);
    x = add_embedding(&m, shape);
    for (m.layer = 0; m.layer < decoder->model->n_layers; m.layer++)
        x = add_layer(&m, x, shape);
    m.layer = MO_LLM_NO_LAYER;
    add_head(&m, x, shape.dims[2]);
    if (m.status == MO_OK)
        m.status = mo_builder_finish(m.builder, graph, err);
    if (m.status == MO_OK)
        mo_operator_resolve(*graph);
    mo_builder_free(m.builder);
    return m.status;
}

static mo_status check(const mo_llm_decoder *d, const mo_llm_options *options,
                       mo_error *err)
{
    const mo_llm_model *model = d->model;
    const char *cache = options->cache->name;

    if (strcmp(cache, "f32") != 0 && strcmp(cache, "f16") != 0 &&
        strcmp(cache, "bf16") != 0)
        return mo_fail_at(err, MO_E_SUPPORT, model->file, 0,
                          "a cache of type %s cannot be run; place it with "
                          "--value cache=f16",
                          cache);
    for (int i = 0; i < model->n_layers; i++)
        if (model->layers[i].kv_heads < 1 ||
            model->layers[i].heads % model->layers[i].kv_heads != 0)
            return mo_fail_at(err, MO_E_INPUT, model->file, 0,
                              "layer %d has %" PRId64 " heads and %" PRId64
                              " of keys, which are no groups",
                              i, model->layers[i].heads,
                              model->layers[i].kv_heads);
    if (model->key_length < 2 || model->key_length > MO_LLM_MAX_HEAD ||
        d->rotated < 2 || d->rotated > model->key_length || d->rotated % 2 != 0)
        return mo_fail_at(err, MO_E_SUPPORT, model->file, 0,
                          "heads of %" PRId64 " elements, %" PRId64
                          " of them rotated, cannot be run",
                          model->key_length, d->rotated);
    return MO_OK;
}

/* Of the factors of rotary positions those for the context are used. */
static bool is_factor(const mo_llm_decoder *d, const mo_llm_weight *w)
{
    return d->has_rope_factors && strncmp(w->name, "rope_factors_", 13) == 0;
}

static mo_status check_used(const mo_llm_decoder *d, mo_error *err)
{
    for (size_t i = 0; i < d->n_weights; i++)
        if (!d->weights[i].is_used && !is_factor(d, &d->weights[i]))
            return mo_fail_at(err, MO_E_SUPPORT, d->model->file, 0,
                              "tensor '%.80s' is not run in the architecture "
                              "%.60s; the model can be placed only",
                              d->weights[i].name, d->model->architecture);
    return MO_OK;
}

mo_status mo_llm_decoder_make(mo_llm_decoder *decoder,
                              const mo_llm_options *options,
                              mo_graph *graphs[MO_LLM_N_PHASES], mo_error *err)
{
    mo_graph *prefill = NULL, *decode = NULL;
    mo_status status = check(decoder, options, err);

    if (status == MO_OK)
        status = make_phase(decoder, options, options->prompt, &prefill, err);
    if (status == MO_OK)
        status = make_phase(decoder, options, 1, &decode, err);
    if (status == MO_OK)
        status = check_used(decoder, err);
    if (status != MO_OK) {
        mo_graph_free(prefill);
        mo_graph_free(decode);
        return status;
    }
    graphs[MO_LLM_PREFILL] = prefill;
    graphs[MO_LLM_DECODE] = decode;
    return MO_OK;
}
