/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of the architectures that can be run, by the keys and defaults of
 * llama.cpp.
 */
#include "ingest/gguf/gguf_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(g, status, ...)                                                   \
    mo_fail_at(err, status, (g)->model.file, 0, __VA_ARGS__)

static const struct architecture {
    const char *name;
    bool pairs_halves; /* of rotary positions */
    bool has_factors;  /* for their frequencies */
    bool is_gemma;     /* scaled embedding, positions of windows not scaled */
    mo_llm_activation activation;
} architectures[] = {
    { "llama", false, true, false, MO_LLM_SILU },
    { "qwen2", true, false, false, MO_LLM_SILU },
    { "qwen3", true, false, false, MO_LLM_SILU },
    { "qwen3moe", true, false, false, MO_LLM_SILU },
    { "phi3", true, true, false, MO_LLM_SILU },
    { "gemma3", true, false, true, MO_LLM_GELU },
    { "gpt-oss", true, false, false, MO_LLM_CLAMPED_SILU },
    { "deepseek2", false, false, false, MO_LLM_SILU },
};

enum { N_ARCHITECTURES = sizeof architectures / sizeof *architectures };

static const mo_gguf_value *find_of(const mo_gguf_model *g, const char *key)
{
    char whole[160];

    snprintf(whole, sizeof whole, "%s.%s", g->model.architecture, key);
    return mo_gguf_header_find(&g->header, whole);
}

static double number_of(const mo_gguf_model *g, const char *key,
                        double fallback)
{
    const mo_gguf_value *value = find_of(g, key);

    return value && isfinite(value->number) ? value->number : fallback;
}

/* All numbers that are read below. */
static mo_status check_numbers(const mo_gguf_model *g, mo_error *err)
{
    static const char *const keys[] = {
        "attention.key_length_mla",
        "attention.layer_norm_rms_epsilon",
        "attention.value_length",
        "embedding_length",
        "expert_gating_func",
        "expert_group_count",
        "expert_weights_norm",
        "expert_weights_scale",
        "rope.dimension_count",
        "rope.freq_base",
        "rope.freq_base_swa",
        "rope.scale_linear",
        "rope.scaling.attn_factor",
        "rope.scaling.factor",
        "rope.scaling.original_context_length",
        "rope.scaling.yarn_beta_fast",
        "rope.scaling.yarn_beta_slow",
        "rope.scaling.yarn_log_multiplier",
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const mo_gguf_value *value = find_of(g, keys[i]);

        if (value && !(fabs(value->number) <= 0x1p40))
            return FAIL(g, MO_E_INPUT, "key '%s.%s' is no number that can be",
                        g->model.architecture, keys[i]);
    }
    return MO_OK;
}

/* Values other than these change the arithmetic in ways that are not known
 * here. */
static mo_status check_keys(const mo_gguf_model *g, mo_error *err)
{
    static const struct {
        const char *key;
        double value;
    } expected[] = {
        { "rope.scaling.yarn_ext_factor", 1 },
        { "attention.causal", 1 },
        { "rope.scaling.yarn_attn_factor", 1 },
        { "attention.temperature_scale", 0 },
        { "final_logit_softcapping", 0 },
        { "attn_logit_softcapping", 0 },
        { "attention.clamp_kqv", 0 },
        { "attention.scale", 0 },
        { "attention.temperature_length", 0 },
        { "logit_scale", 0 },
    };
    static const char *const scalings[] = { "none", "linear", "longrope",
                                            "yarn" };
    const mo_gguf_value *scaling = find_of(g, "rope.scaling.type");
    double length = (double) g->model.key_length;
    bool is_latent = strcmp(g->model.architecture, "deepseek2") == 0;
    bool knows = !scaling || !scaling->text;

    if (g->header.is_big_endian)
        return FAIL(g, MO_E_SUPPORT,
                    "has big-endian weights, which cannot be "
                    "run; convert the model");
    for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++)
        knows = knows || strcmp(scaling->text, scalings[i]) == 0;
    if (!knows)
        return FAIL(g, MO_E_SUPPORT,
                    "scales rotary positions by '%.40s', which cannot be run",
                    scaling->text);
    if (is_latent && number_of(g, "attention.key_length_mla", 0) == 0)
        return FAIL(g, MO_E_SUPPORT,
                    "has no key 'deepseek2.attention.key_length_mla': files "
                    "with undivided weights of keys and values cannot be run");
    if (!is_latent && number_of(g, "rope.scaling.yarn_log_multiplier", 0) != 0)
        return FAIL(g, MO_E_SUPPORT,
                    "key '%s.rope.scaling.yarn_log_multiplier' has a value "
                    "that cannot be run",
                    g->model.architecture);
    if (is_latent && number_of(g, "expert_group_count", 1) > 1)
        return FAIL(g, MO_E_SUPPORT,
                    "chooses experts by group, which cannot be run");
    if (!is_latent && number_of(g, "attention.value_length", length) != length)
        return FAIL(g, MO_E_SUPPORT,
                    "has values of another length than keys, which cannot be "
                    "run");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (number_of(g, expected[i].key, expected[i].value) !=
            expected[i].value)
            return FAIL(g, MO_E_SUPPORT,
                        "key '%s.%s' has a value that cannot be run",
                        g->model.architecture, expected[i].key);
    return MO_OK;
}

static mo_status check_embedding(const mo_gguf_model *g, mo_error *err)
{
    for (size_t i = 0; i < g->n_weights; i++) {
        const mo_llm_weight *w = &g->weights[i];
        double length = (double) w->dims[0];

        if (strcmp(w->name, "token_embd.weight") == 0 &&
            number_of(g, "embedding_length", length) != length)
            return FAIL(g, MO_E_INPUT,
                        "tensor 'token_embd.weight' has not the columns that "
                        "key '%s.embedding_length' says",
                        g->model.architecture);
    }
    return MO_OK;
}

static const struct architecture *find_architecture(const char *name)
{
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (strcmp(architectures[i].name, name) == 0)
            return &architectures[i];
    return NULL;
}

static int compare_weights(const void *a, const void *b)
{
    const mo_llm_weight *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* The largest model divides by the width of a head that it does not have. */
static double gemma_head(const mo_gguf_model *g)
{
    return g->model.n_layers == 62 && g->model.layers[0].heads > 0
               ? number_of(g, "embedding_length", 0) /
                     (double) g->model.layers[0].heads
               : (double) g->model.key_length;
}

/* Scaled positions scale the scores of DeepSeek-V2, too, and the amplitude of
 * its cosines and sines only where there is no factor for both. */
static void set_latent(const mo_gguf_model *g, double factor,
                       mo_llm_decoder *decoder)
{
    double own = number_of(g, "rope.scaling.attn_factor", 1);
    double each = number_of(g, "rope.scaling.yarn_log_multiplier", 0);
    double sizes =
        decoder->yarn && each != 0 ? own : own * (1 + 0.1 * log(factor));
    double scale = sizes * (1 + each * log(factor));

    decoder->is_latent = true;
    if (decoder->yarn)
        decoder->rope_amplitude = sizes;
    decoder->attention_scale =
        scale * scale / sqrt(number_of(g, "attention.key_length_mla", 1));
    decoder->experts_sigmoid = number_of(g, "expert_gating_func", 1) == 2;
    decoder->experts_norm = number_of(g, "expert_weights_norm", 0) != 0;
    decoder->experts_scale = number_of(g, "expert_weights_scale", 0);
    if (decoder->experts_scale == 0)
        decoder->experts_scale = 1;
}

mo_status mo_gguf_decoder_read(mo_gguf_model *g, mo_llm_decoder *decoder,
                               mo_error *err)
{
    const struct architecture *a = find_architecture(g->model.architecture);
    const mo_gguf_value *scaling = find_of(g, "rope.scaling.type");
    double factor = number_of(g, "rope.scaling.factor",
                              number_of(g, "rope.scale_linear", 1));
    double base = number_of(g, "rope.freq_base", 10000);
    bool yarn = scaling && scaling->text && strcmp(scaling->text, "yarn") == 0;
    mo_status status;

    if (!a)
        return FAIL(g, MO_E_SUPPORT,
                    "is of the architecture '%.60s', which can be placed but "
                    "not run; llama, qwen2, qwen3, qwen3moe, phi3, gemma3, "
                    "gpt-oss and deepseek2 can",
                    g->model.architecture);
    status = check_numbers(g, err);
    if (status == MO_OK)
        status = check_keys(g, err);
    if (status == MO_OK)
        status = check_embedding(g, err);
    if (status != MO_OK)
        return status;
    if (g->n_weights > 0)
        qsort(g->weights, g->n_weights, sizeof *g->weights, compare_weights);
    if (factor == 0 ||
        (scaling && scaling->text && strcmp(scaling->text, "none") == 0))
        factor = 1;
    *decoder = (mo_llm_decoder){
        .model = &g->model,
        .weights = g->weights,
        .n_weights = g->n_weights,
        .eps = number_of(g, "attention.layer_norm_rms_epsilon", NAN),
        .rotated = (int64_t) number_of(g, "rope.dimension_count",
                                       (double) g->model.key_length),
        .pairs_halves = a->pairs_halves,
        .rope_base = base,
        .rope_scale = 1 / factor,
        .window_rope_base =
            number_of(g, "rope.freq_base_swa", a->is_gemma ? 10000 : base),
        .window_rope_scale = a->is_gemma ? 1 : 1 / factor,
        .rope_amplitude = number_of(g, "rope.scaling.attn_factor", 1) *
                          (yarn ? 1 + 0.1 * log(factor) : 1),
        .rope_context =
            (int64_t) number_of(g, "rope.scaling.original_context_length",
                                (double) g->model.context),
        .has_rope_factors = a->has_factors,
        .yarn = yarn,
        .yarn_fast = number_of(g, "rope.scaling.yarn_beta_fast", 32),
        .yarn_slow = number_of(g, "rope.scaling.yarn_beta_slow", 1),
        .attention_scale = 1 / sqrt(a->is_gemma ? gemma_head(g)
                                                : (double) g->model.key_length),
        .embedding_scale =
            a->is_gemma ? sqrt(number_of(g, "embedding_length", 1)) : 1,
        .activation = a->activation,
        .experts_norm = true,
        .experts_scale = 1,
    };
    if (strcmp(a->name, "deepseek2") == 0)
        set_latent(g, factor, decoder);
    return isnan(decoder->eps)
               ? FAIL(g, MO_E_INPUT, "has no key '%s.%s'",
                      g->model.architecture, "attention.layer_norm_rms_epsilon")
               : MO_OK;
}
