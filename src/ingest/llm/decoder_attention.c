/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of a layer.
 *
 * Keys and values are kept by head, [1, heads, context, head size].  Tokens
 * attend to those in the cache up to their positions; the queries of a group
 * of one token are rows of one product.
 */
#include "ingest/llm/decoder_internal.h"

#include <stdio.h>
#include <string.h>

/* Writes keys or values [1, tokens, heads, head] into their state, after
 * conversion to its type; returns the state, by head. */
static int add_cache(mo_llm_run *m, bool is_key, int x, int64_t heads,
                     int64_t head)
{
    static const char *const parts[2][5] = {
        { "new_values", "values_by_head", "past_values", "values",
          "next_values" },
        { "new_keys", "keys_by_head", "past_keys", "keys", "next_keys" }
    };
    const char *const *part = parts[is_key], *dtype = m->options->cache->name;
    const mo_shape cache = MO_LLM_SHAPE(1, heads, m->options->context, head);
    char state[MO_LLM_RUN_NAME];
    int by_head, past, next;

    if (strcmp(dtype, "f32") != 0)
        x = mo_llm_run_add(m, &(mo_llm_run_op){ .role = "attn",
                                                .part = part[0],
                                                .type = "Convert",
                                                .dtype = dtype,
                                                .shape = MO_LLM_SHAPE(
                                                    1, m->tokens, heads, head),
                                                .in = { x },
                                                .n_in = 1 });
    by_head = mo_llm_run_add_swap(m, "attn", part[1], x, dtype,
                                  (int64_t[]){ m->tokens, heads, head });
    mo_llm_run_name(m, "attn", part[3], state);
    past = mo_llm_run_add(m, &(mo_llm_run_op){ .role = "attn",
                                               .part = part[2],
                                               .type = "Parameter",
                                               .dtype = dtype,
                                               .shape = cache,
                                               .state = state });
    next =
        mo_llm_run_add(m, &(mo_llm_run_op){ .role = "attn",
                                            .part = part[3],
                                            .type = "ScatterUpdate",
                                            .dtype = dtype,
                                            .shape = cache,
                                            .in = { past, m->at, by_head,
                                                    mo_llm_run_add_int(m, 2) },
                                            .n_in = 4 });
    mo_llm_run_add(m, &(mo_llm_run_op){ .role = "attn",
                                        .part = part[4],
                                        .type = "Result",
                                        .dtype = dtype,
                                        .shape = cache,
                                        .in = { next },
                                        .n_in = 1,
                                        .state = state });
    return next;
}

/* Queries of a group read the same keys: as further queries, or, of a prompt,
 * as a dimension along which the keys are repeated. */
static int attend(mo_llm_run *m, const mo_llm_view *v, int q, int k, int value,
                  int64_t head)
{
    const mo_llm_layer *layer = &m->decoder->model->layers[m->layer];
    const char *dtype = m->options->cache->name;
    int64_t shared = layer->kv_heads, group = layer->heads / shared;
    mo_shape shape = MO_LLM_SHAPE(1, shared, group, head);
    char attrs[48];
    mo_llm_run_op d = { .role = "attn",
                        .type = "ScaledDotProductAttention",
                        .attrs = attrs,
                        .n_in = 4 };
    mo_llm_weight *sinks = mo_llm_run_find(m, "attn_sinks", ".weight");

    snprintf(attrs, sizeof attrs, "{\"scale\":%.17g}",
             m->decoder->attention_scale);
    if (m->tokens > 1) {
        const mo_shape keys =
            MO_LLM_SHAPE(1, shared, 1, m->options->context, head);

        shape = MO_LLM_SHAPE(1, shared, group, m->tokens, head);
        k = mo_llm_run_add_reshape(m, "attn", "shared_keys", k, dtype, keys);
        value = mo_llm_run_add_reshape(m, "attn", "shared_values", value, dtype,
                                       keys);
    }
    d.in[0] = mo_llm_run_add_reshape(m, "attn", "groups", q, "f32", shape);
    d.in[1] = k;
    d.in[2] = value;
    d.in[3] = v->mask;
    d.shape = shape;
    if (sinks) {
        d.in[d.n_in++] = mo_llm_run_add_number(m, "attention_scale", "f32",
                                               m->decoder->attention_scale);
        d.in[d.n_in++] = mo_llm_run_add_reshape(
            m, "attn", "sinks", mo_llm_run_add_vector(m, sinks), "f32",
            m->tokens > 1 ? MO_LLM_SHAPE(1, shared, group, 1, 1)
                          : MO_LLM_SHAPE(1, shared, group, 1));
    }
    return mo_llm_run_add(m, &d);
}

/* Queries and result [1, tokens, heads, head]. */
static int attend_by_token(mo_llm_run *m, const mo_llm_view *v, int q, int k,
                           int value, int64_t head)
{
    static const char *const parts[] = { "narrow_queries", "queries" };
    int64_t heads = m->decoder->model->layers[m->layer].heads;

    q = mo_llm_run_add_rounding(m, "attn", parts, q, m->options->cache->name,
                                MO_LLM_SHAPE(1, m->tokens, heads, head));
    q = mo_llm_run_add_swap(m, "attn", "queries_by_head", q, "f32",
                            (int64_t[]){ m->tokens, heads, head });
    q = mo_llm_run_add_reshape(m, "attn", "by_head",
                               attend(m, v, q, k, value, head), "f32",
                               MO_LLM_SHAPE(1, heads, m->tokens, head));
    return mo_llm_run_add_swap(m, "attn", "by_token", q, "f32",
                               (int64_t[]){ heads, m->tokens, head });
}

/* Queries, keys or values [1, tokens, heads, head] of a layer: the product of
 * h with weights of their own, or elements from begin on of one product. */
static int add_heads(mo_llm_run *m, const char *role, int h, int fused,
                     int64_t begin, mo_shape shape)
{
    const mo_shape rows =
        MO_LLM_SHAPE(1, m->tokens, shape.dims[2] * shape.dims[3]);
    char part[32];

    if (fused < 0)
        return mo_llm_run_add_reshape(
            m, role, "heads", mo_llm_run_add_linear(m, role, h), "f32", shape);
    h = mo_llm_run_add_slice(m, "attn_rope", role, fused, begin, rows);
    snprintf(part, sizeof part, "%s_heads", role);
    return mo_llm_run_add_reshape(m, "attn_rope", part, h, "f32", shape);
}

static int add_grouped(mo_llm_run *m, int h)
{
    static const char *const of_queries[] = { "partners", "own", "other",
                                              NULL };
    static const char *const of_keys[] = { "key_partners", "own_keys",
                                           "other_keys", "rotated_keys" };
    const mo_llm_layer *layer = &m->decoder->model->layers[m->layer];
    const mo_shape queries = MO_LLM_SHAPE(1, m->tokens, layer->heads, m->head);
    const mo_shape keys = MO_LLM_SHAPE(1, m->tokens, layer->kv_heads, m->head);
    const mo_llm_view *v = mo_llm_run_find_view(m);
    int64_t first_key = layer->heads * m->head;
    int64_t first_value = first_key + layer->kv_heads * m->head;
    int fused = mo_llm_run_find(m, "attn_qkv", ".weight")
                    ? mo_llm_run_add_linear(m, "attn_qkv", h)
                    : -1;
    int q, k, value;

    q = add_heads(m, "attn_q", h, fused, 0, queries);
    q = mo_llm_run_add_optional_norm(m, "attn_q_norm", q, queries);
    q = mo_llm_run_rotate(m, v, "attn_rope", of_queries, q, queries);
    k = add_heads(m, "attn_k", h, fused, first_key, keys);
    k = mo_llm_run_add_optional_norm(m, "attn_k_norm", k, keys);
    k = mo_llm_run_rotate(m, v, "attn", of_keys, k, keys);
    k = add_cache(m, true, k, layer->kv_heads, m->head);
    value = add_heads(m, "attn_v", h, fused, first_value, keys);
    value = add_cache(m, false, value, layer->kv_heads, m->head);
    h = attend_by_token(m, v, q, k, value, m->head);
    return mo_llm_run_add_reshape(
        m, "attn", "merged", h, "f32",
        MO_LLM_SHAPE(1, m->tokens, layer->heads * m->head));
}

/*
 * Latent attention: keys and values of all heads are products of a latent of a
 * token, which is in the cache with the part of its key that has a position.
 * The weights of keys are applied to the queries, those of values to the
 * result, head by head.
 */

static int add_concat(mo_llm_run *m, const char *role, const char *part, int a,
                      int b, mo_shape shape)
{
    return mo_llm_run_add(m, &(mo_llm_run_op){ .role = role,
                                               .part = part,
                                               .type = "Concat",
                                               .attrs = "{\"axis\":-1}",
                                               .shape = shape,
                                               .in = { a, b },
                                               .n_in = 2 });
}

static int add_latent_queries(mo_llm_run *m, int h)
{
    mo_llm_weight *first = mo_llm_run_find(m, "attn_q_a", ".weight");

    if (!first)
        return mo_llm_run_add_linear(m, "attn_q", h);
    h = mo_llm_run_add_linear(m, "attn_q_a", h);
    h = mo_llm_run_add_norm(m, "attn_q_a_norm", h,
                            MO_LLM_SHAPE(1, m->tokens, first->dims[1]));
    return mo_llm_run_add_linear(m, "attn_q_b", h);
}

/* The number of the head of each row, [1, tokens, heads]. */
static int add_head_numbers(mo_llm_run *m, int64_t heads)
{
    const double shape[] = { 1, (double) m->tokens, (double) heads };
    int slot = mo_builder_find(m->builder, "/heads", strlen("/heads"));

    if (slot >= 0)
        return slot;
    return mo_llm_run_add(
        m,
        &(mo_llm_run_op){
            .part = "heads",
            .type = "Broadcast",
            .dtype = "i64",
            .shape = MO_LLM_SHAPE(1, m->tokens, heads),
            .in = { mo_llm_run_add_range(m, "head_numbers", heads),
                    mo_llm_run_add_numbers(m, "heads_shape", "i64", 3, shape) },
            .n_in = 2,
            .is_constant = true });
}

static int add_latent(mo_llm_run *m, int h)
{
    static const char *const of_queries[] = { "partners", "own", "other",
                                              "rotated" };
    static const char *const of_keys[] = { "key_partners", "own_keys",
                                           "other_keys", "rotated_keys" };
    const mo_llm_weight *k_b = mo_llm_run_find_weight(m, "attn_k_b");
    const mo_llm_weight *v_b = mo_llm_run_find_weight(m, "attn_v_b");
    const mo_llm_view *v = mo_llm_run_find_view(m);
    int64_t n = m->tokens, heads = m->decoder->model->layers[m->layer].heads;
    int64_t content = k_b->dims[0], rank = k_b->dims[1], place = m->head;
    int64_t wide = rank + place;
    int numbers = add_head_numbers(m, heads), q, k, part;

    q = mo_llm_run_add_reshape(m, "attn_k_b", "heads", add_latent_queries(m, h),
                               "f32",
                               MO_LLM_SHAPE(1, n, heads, content + place));
    part = mo_llm_run_add_slice(m, "attn_k_b", "places", q, content,
                                MO_LLM_SHAPE(1, n, heads, place));
    part = mo_llm_run_rotate(m, v, "attn_rope", of_queries, part,
                             MO_LLM_SHAPE(1, n, heads, place));
    q = mo_llm_run_add_slice(m, "attn_k_b", "contents", q, 0,
                             MO_LLM_SHAPE(1, n, heads, content));
    q = mo_llm_run_add_experts(
        m, "attn_k_b", q, MO_LLM_SHAPE(1, n, heads, content), numbers, heads);
    q = add_concat(m, "attn_rope", NULL, q, part,
                   MO_LLM_SHAPE(1, n, heads, wide));

    k = mo_llm_run_add_linear(m, "attn_kv_a_mqa", h);
    part = mo_llm_run_add_slice(m, "attn_kv_a_norm", "places", k, rank,
                                MO_LLM_SHAPE(1, n, place));
    part = mo_llm_run_add_reshape(m, "attn_kv_a_norm", "placed", part, "f32",
                                  MO_LLM_SHAPE(1, n, 1, place));
    part = mo_llm_run_rotate(m, v, "attn", of_keys, part,
                             MO_LLM_SHAPE(1, n, 1, place));
    k = mo_llm_run_add_slice(m, "attn_kv_a_norm", "latent", k, 0,
                             MO_LLM_SHAPE(1, n, rank));
    k = mo_llm_run_add_norm(m, "attn_kv_a_norm", k, MO_LLM_SHAPE(1, n, rank));
    k = mo_llm_run_add_reshape(m, "attn", "latent", k, "f32",
                               MO_LLM_SHAPE(1, n, 1, rank));
    k = add_concat(m, "attn", "latent_keys", k, part,
                   MO_LLM_SHAPE(1, n, 1, wide));
    k = add_cache(m, true, k, 1, wide);

    /* The part with a position is a value, too, that is not used. */
    h = attend_by_token(m, v, q, k, k, wide);
    h = mo_llm_run_add_slice(m, "attn", "latents", h, 0,
                             MO_LLM_SHAPE(1, n, heads, rank));
    h = mo_llm_run_add_experts(m, "attn_v_b", h,
                               MO_LLM_SHAPE(1, n, heads, rank), numbers, heads);
    return mo_llm_run_add_reshape(m, "attn_v_b", "merged", h, "f32",
                                  MO_LLM_SHAPE(1, n, heads * v_b->dims[1]));
}

int mo_llm_run_add_attention(mo_llm_run *m, int h)
{
    return m->decoder->is_latent ? add_latent(m, h) : add_grouped(m, h);
}
