/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "ingest/llm/llm_graph.h"

static mo_status add_layer(const mo_llm_model *model,
                           const mo_llm_options *options, int layer,
                           mo_llm_summary *s, mo_error *err)
{
    static const char *const experts[] = { "ffn_up_exps", "ffn_gate_up_exps" };
    int64_t window = model->layers[layer].window, token, state, all;
    int64_t kept =
        window > 0 ? mo_min_i64(window, options->context) : options->context;
    mo_status status =
        mo_llm_cache_bytes(model, layer, options->cache, &token, &state, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < 2; i++) {
        const mo_llm_tensor *t = mo_llm_model_find(model, layer, experts[i]);

        if (!t)
            continue;
        s->expert_layers++;
        s->experts = mo_max_i64(s->experts, t->dims[2]);
        s->experts_used = model->experts_used;
    }
    s->attention_layers += token > 0;
    s->recurrent_layers += state > 0;
    s->window_layers += token > 0 && window > 0;
    if (token > 0)
        s->window = mo_max_i64(s->window, window);
    if (!mo_int64_add(s->token_bytes, token, &s->token_bytes) ||
        !mo_int64_mul(token, kept, &all) ||
        !mo_int64_add(s->cache_bytes, all, &s->cache_bytes) ||
        !mo_int64_add(s->state_bytes, state, &s->state_bytes))
        return mo_fail_at(err, MO_E_LIMIT, model->file, 0,
                          "the cache is too large");
    return MO_OK;
}

mo_status mo_llm_summary_make(const mo_llm_model *model,
                              const mo_llm_options *options,
                              mo_llm_summary *summary, mo_error *err)
{
    mo_status status = MO_OK;

    snprintf(summary->architecture, sizeof summary->architecture, "%s",
             model->architecture);
    snprintf(summary->title, sizeof summary->title, "%s",
             model->title ? model->title : "");
    summary->layers = model->n_layers;
    summary->trained_context = model->context;
    summary->context = options->context;
    summary->cache_type = options->cache->name;
    for (int i = 0; i < model->n_layers && status == MO_OK; i++)
        status = add_layer(model, options, i, summary, err);
    return status;
}

void mo_llm_summary_count(mo_llm_summary *summary, const char *type,
                          int64_t bytes)
{
    int i = 0;

    while (i < summary->n_types && strcmp(summary->types[i].type, type) != 0)
        i++;
    if (i == MO_LLM_MAX_TYPES)
        return;
    if (i == summary->n_types)
        summary->types[summary->n_types++] = (mo_llm_type_sum){ type, 0, 0 };
    summary->types[i].tensors++;
    summary->types[i].bytes += bytes;
}

static int compare_types(const void *a, const void *b)
{
    const mo_llm_type_sum *x = a, *y = b;

    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                : strcmp(x->type, y->type);
}

void mo_llm_summary_sort(mo_llm_summary *summary)
{
    qsort(summary->types, (size_t) summary->n_types, sizeof *summary->types,
          compare_types);
}
