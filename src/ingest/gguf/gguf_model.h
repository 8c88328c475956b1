/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_model.h - decoder of a GGUF file: its hyper-parameters, and its tensors
 * by layer and role.
 */
#ifndef MO_INGEST_GGUF_GGUF_MODEL_H
#define MO_INGEST_GGUF_GGUF_MODEL_H

#include "base/error.h"
#include "ingest/gguf/header.h"
#include "ingest/llm/decoder.h"
#include "ingest/llm/model.h"
#include "ingest/llm/summary.h"

/* The caller clears it, also after a failure.  Layers that are only used for
 * speculative decoding (draft layers) are not part of the model. */
typedef struct mo_gguf_model {
    mo_llm_model model;
    mo_gguf_header header;  /* of the first shard */
    mo_llm_weight *weights; /* tensors of all shards */
    size_t n_weights, room;
    mo_arena *arena;        /* of the texts */
    mo_llm_summary summary; /* its types, shards and draft layers */
} mo_gguf_model;

/* Reads the headers of input and of further shards beside it. */
mo_status mo_gguf_model_read(mo_input *input, mo_gguf_model *model,
                             mo_error *err);
void mo_gguf_model_clear(mo_gguf_model *model);

/* gguf_decoder.c: fills *decoder with the arithmetic of the architecture; it
 * borrows from the model, whose weights are sorted.  Fails with MO_E_SUPPORT
 * for what cannot be run. */
mo_status mo_gguf_decoder_read(mo_gguf_model *model, mo_llm_decoder *decoder,
                               mo_error *err);

#endif
