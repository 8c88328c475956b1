/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_draft.h - an op of a decoder before it is added to the graph: its shape,
 * FLOPs, traffic and state, by the kind of its row (rows.h).
 */
#ifndef MO_INGEST_LLM_LLM_DRAFT_H
#define MO_INGEST_LLM_LLM_DRAFT_H

#include <stdint.h>

#include "base/error.h"
#include "graph/build.h"
#include "ingest/llm/model.h"
#include "ingest/llm/options.h"
#include "ingest/llm/rows.h"

enum { MO_LLM_MAX_SOURCES = 8 };

/* An op that others read. */
typedef struct mo_llm_source {
    int slot;
    int64_t width; /* elements of its output for each token */
} mo_llm_source;

/* A graph in the making. */
typedef struct mo_llm_maker {
    mo_llm_model *model;
    const mo_llm_options *options;
    mo_builder *builder;
    int64_t tokens;               /* that are computed */
    int64_t past;                 /* those before, which are in the cache */
    double element_bytes;         /* of activations */
    mo_llm_source registers[256]; /* slot -1: empty */
    int layer;
    mo_error *err;
} mo_llm_maker;

/* An op to be added. */
typedef struct mo_llm_draft {
    const char *type;
    mo_llm_tensor *tensor; /* or NULL */
    char shape[128], attrs[320];
    int64_t width, tokens;
    double flops, traffic; /* beside activations and weights */
    double weight_traffic;
    int64_t state_bytes;
    mo_llm_source sources[MO_LLM_MAX_SOURCES];
    int n_sources;
} mo_llm_draft;

/* Fails with MO_E_LIMIT for an op of that name. */
mo_status mo_llm_maker_fail_size(const mo_llm_maker *m, const char *name);

/* Returns the rows of the layer that is being added, and its tensor of a role,
 * or NULL. */
const mo_llm_row *mo_llm_maker_rows(const mo_llm_maker *m);
mo_llm_tensor *mo_llm_maker_find(const mo_llm_maker *m, const char *role);

/* Fills a draft whose tensor, sources and tokens are set. */
mo_status mo_llm_draft_row(mo_llm_maker *m, const mo_llm_row *row,
                           mo_llm_draft *d);

#endif
