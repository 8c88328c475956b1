/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - figures of a decoder: layers, bytes by type, experts, cache.
 */
#ifndef MO_INGEST_LLM_SUMMARY_H
#define MO_INGEST_LLM_SUMMARY_H

#include <stdint.h>

#include "base/error.h"
#include "ingest/llm/model.h"
#include "ingest/llm/options.h"

enum { MO_LLM_MAX_TYPES = 64 };

/* Tensors of one type. */
typedef struct mo_llm_type_sum {
    const char *type; /* a constant */
    int64_t tensors, bytes;
} mo_llm_type_sum;

typedef struct mo_llm_summary {
    char architecture[104], title[104]; /* title "": none */
    char quantization[32];              /* method, "": none is given */
    int shards;
    int unknown_tensors; /* without a role: every layer is one op */
    int layers, draft_layers;
    int attention_layers, window_layers, recurrent_layers, expert_layers;
    int64_t window;                /* the longest; 0: none */
    int64_t trained_context;       /* 0: not given */
    int64_t experts, experts_used; /* of a layer */
    int64_t context;               /* that the cache has room for */
    const char *cache_type;        /* a constant */
    int64_t token_bytes;           /* of the cache, of all layers */
    int64_t cache_bytes;           /* of the context, of all layers */
    int64_t state_bytes;
    mo_llm_type_sum types[MO_LLM_MAX_TYPES]; /* the most bytes first */
    int n_types;
} mo_llm_summary;

/* Fills what follows from the model; the reader of the file fills shards,
 * draft_layers and types. */
mo_status mo_llm_summary_make(const mo_llm_model *model,
                              const mo_llm_options *options,
                              mo_llm_summary *summary, mo_error *err);

/* Adds a tensor to the sum of its type. */
void mo_llm_summary_count(mo_llm_summary *summary, const char *type,
                          int64_t bytes);

/* Sorts the types by bytes, then by name. */
void mo_llm_summary_sort(mo_llm_summary *summary);

#endif
