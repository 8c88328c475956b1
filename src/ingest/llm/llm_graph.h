/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_graph.h - graph of one run of a decoder: the whole prompt, or one token
 * with a cache of those before it; or a workload of both.
 *
 * Flops and traffic of experts are those of the chosen ones, memory that of
 * all.  The cache counts in the memory of attention, with room for the whole
 * context.
 */
#ifndef MO_INGEST_LLM_LLM_GRAPH_H
#define MO_INGEST_LLM_LLM_GRAPH_H

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/llm/model.h"
#include "ingest/llm/options.h"

/* Makes the graph: of the prompt, if options has one, else of the last token
 * of the context; with an answer a workload: the prompt once, and a token in
 * the middle of the answer as often as the answer has tokens.  Fails with
 * MO_E_SUPPORT if tensors are not understood.  The caller frees *graph with
 * mo_graph_free(). */
mo_status mo_llm_graph_make(mo_llm_model *model, const mo_llm_options *options,
                            mo_graph **graph, mo_error *err);

/* Sets *bytes to what the cache of a layer needs for each token within its
 * window, and *state to what it needs however many tokens there are. */
mo_status mo_llm_cache_bytes(const mo_llm_model *model, int layer,
                             const mo_llm_type *type, int64_t *bytes,
                             int64_t *state, mo_error *err);

#endif
