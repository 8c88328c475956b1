/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf.h - reader of decoders in GGUF, the format of ggml and llama.cpp.
 *
 * Two steps: decode the header (gguf/header.h), of all shards, and make a
 * graph by the names and sizes of the tensors (llm/llm_graph.h).  Weights are
 * not read.
 */
#ifndef MO_INGEST_GGUF_H
#define MO_INGEST_GGUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Returns whether data is the beginning of a GGUF file. */
bool mo_gguf_sniff(const char *data, size_t size);

/* Reads from an input that the caller opened and closes.  Of a model in shards
 * the input is the first, and the others are opened beside it.  options may be
 * NULL.  The caller frees *graph with mo_graph_free(). */
mo_status mo_gguf_read(mo_input *input, const mo_read_options *options,
                       mo_graph **graph, mo_error *err);

/* Makes the graphs of prompt and token that run (llm/decoder.h), with the
 * weights of the file; of options, which give both lengths, as above.  The
 * caller frees the graphs. */
mo_status mo_gguf_read_phases(mo_input *input, const mo_read_options *options,
                              mo_graph *graphs[2], mo_error *err);

/* Sets *summary to the figures of the model. */
mo_status mo_gguf_summarize(mo_input *input, const mo_read_options *options,
                            struct mo_llm_summary *summary, mo_error *err);

#endif
