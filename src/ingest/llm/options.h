/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - lengths that the graph of a decoder depends on, as --value gives
 * them.
 */
#ifndef MO_INGEST_LLM_OPTIONS_H
#define MO_INGEST_LLM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/llm/ggml_type.h"
#include "ingest/llm/model.h"
#include "ingest/read.h"

typedef struct mo_llm_options {
    int64_t context;  /* tokens that the cache has room for */
    int64_t prompt;   /* tokens that a request begins with; 0: not given */
    int64_t generate; /* tokens of the answer; 0: not given */
    const mo_llm_type *cache; /* element type of the cache */
    bool whole_layers;        /* the ops of a layer share a device */
} mo_llm_options;

/* Reads the values context, prompt, generate, cache and layers; read may be
 * NULL.  Any other value, and any shape, is MO_E_USAGE. */
mo_status mo_llm_options_read(const mo_read_options *read,
                              const mo_llm_model *model,
                              mo_llm_options *options, mo_error *err);

#endif
