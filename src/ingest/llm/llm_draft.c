/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/llm_draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "ingest/llm/llm_graph.h"

enum {
    SCAN_FLOPS = 6, /* for each element of the state */
    POINT_FLOPS = 5 /* for each element of a norm, activation, softmax */
};

mo_status mo_llm_maker_fail_size(const mo_llm_maker *m, const char *name)
{
    return mo_fail_at(m->err, MO_E_LIMIT, m->model->file, 0,
                      "op '%s' is too large", name);
}

const mo_llm_row *mo_llm_maker_rows(const mo_llm_maker *m)
{
    return m->layer == MO_LLM_NO_LAYER ? mo_llm_model_rows : mo_llm_layer_rows;
}

mo_llm_tensor *mo_llm_maker_find(const mo_llm_maker *m, const char *role)
{
    return mo_llm_model_find(m->model, m->layer, role);
}

/* Pairs of a token and one that it attends to, itself included. */
static double count_pairs(const mo_llm_maker *m)
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

static void set_product(mo_llm_draft *d, int64_t batch, int64_t rows)
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
static mo_status draft_experts(const mo_llm_maker *m, mo_llm_draft *d)
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
        return mo_llm_maker_fail_size(m, d->tensor->name);
    set_product(d, mo_min_i64(all, chosen),
                mo_ceil_div(chosen, mo_min_i64(all, chosen)));
    d->flops = 2.0 * (double) chosen * (double) d->tensor->dims[0] *
               (double) d->tensor->dims[1];
    d->weight_traffic *= (double) mo_min_i64(all, chosen) / (double) all;
    return MO_OK;
}

/* Keys and values come from the cache, on the ports of attention's own. */
static mo_status draft_attention(mo_llm_maker *m, mo_llm_draft *d)
{
    const mo_llm_layer *layer = &m->model->layers[m->layer];
    const mo_llm_tensor *out = mo_llm_maker_find(m, "attn_output");
    const mo_llm_tensor *latent = mo_llm_maker_find(m, "attn_v_b");
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
        return mo_llm_maker_fail_size(m, latent->name);
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
        return mo_llm_maker_fail_size(m, "attn");
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

static mo_status draft_rope(const mo_llm_maker *m, mo_llm_draft *d)
{
    const mo_llm_layer *layer = &m->model->layers[m->layer];

    d->width = d->sources[0].width;
    if (mo_llm_maker_find(m, "attn_qkv") &&
        !mo_int64_mul(layer->heads, m->model->key_length, &d->width))
        return mo_llm_maker_fail_size(m, "attn_rope");
    if (layer->heads > 0 && d->width % layer->heads == 0)
        snprintf(d->shape, sizeof d->shape,
                 "1,%" PRId64 ",%" PRId64 ",%" PRId64, layer->heads, d->tokens,
                 d->width / layer->heads);
    return MO_OK;
}

/* States are read and written once for all tokens. */
static mo_status draft_state(const mo_llm_maker *m, mo_llm_draft *d)
{
    int64_t cache;
    mo_status status = mo_llm_cache_bytes(m->model, m->layer, m->options->cache,
                                          &cache, &d->state_bytes, m->err);

    d->traffic = 2.0 * (double) d->state_bytes;
    return status;
}

static mo_status draft_scan(const mo_llm_maker *m, mo_llm_draft *d)
{
    const mo_llm_tensor *out = mo_llm_maker_find(m, "ssm_out");

    d->width = out ? out->dims[0] : d->sources[0].width;
    d->flops = SCAN_FLOPS * (double) d->width * (double) m->model->ssm_state *
               (double) m->tokens;
    return draft_state(m, d);
}

mo_status mo_llm_draft_row(mo_llm_maker *m, const mo_llm_row *row,
                           mo_llm_draft *d)
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
                   : mo_llm_maker_fail_size(m, t->name);
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
        return mo_llm_maker_find(m, "ssm_a") ? MO_OK : draft_state(m, d);
    case MO_LLM_ACT:
        next = mo_llm_maker_find(m, row->with);
        if (next)
            d->width = next->dims[0];
        if (next && next->dims[2] > 1 &&
            !mo_int64_mul(d->width, m->model->experts_used, &d->width))
            return mo_llm_maker_fail_size(m, next->name);
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
