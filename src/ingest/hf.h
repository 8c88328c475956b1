/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hf.h - reader of decoders in a folder of Hugging Face's transformers:
 * config.json and the headers of *.safetensors.
 *
 * The graph is that of GGUF (llm/llm_graph.h), with the names of the files.
 * Neither weights nor code of the folder are read.
 */
#ifndef MO_INGEST_HF_H
#define MO_INGEST_HF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Returns whether data is the beginning of a config.json: an object with a
 * "model_type" or "architectures". */
bool mo_hf_sniff(const char *data, size_t size);

/* Reads config.json from an input that the caller opened and closes; the other
 * files are opened beside it.  options may be NULL.  The caller frees *graph
 * with mo_graph_free(). */
mo_status mo_hf_read(mo_input *input, const mo_read_options *options,
                     mo_graph **graph, mo_error *err);

/* Sets *summary to the figures of the model. */
mo_status mo_hf_summarize(mo_input *input, const mo_read_options *options,
                          struct mo_llm_summary *summary, mo_error *err);

#endif
