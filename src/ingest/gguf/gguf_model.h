/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_model.h - decoder of a GGUF file: its hyper-parameters, and its tensors
 * by layer and role.
 */
#ifndef MO_INGEST_GGUF_GGUF_MODEL_H
#define MO_INGEST_GGUF_GGUF_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/gguf/header.h"
#include "ingest/llm/model.h"

/* Bytes of the tensors of one type. */
typedef struct mo_gguf_type_bytes {
    const mo_llm_type *type;
    int64_t tensors, bytes;
} mo_gguf_type_bytes;

enum { MO_GGUF_MAX_TYPES = 64 };

/* The caller clears it, also after a failure. */
typedef struct mo_gguf_model {
    mo_llm_model model;
    mo_arena *arena; /* of the texts */
    int version;
    int n_shards;
    int n_draft_layers; /* further layers, only for speculative decoding,
                           which are not part of the graph */
    int64_t experts;    /* of a layer; 0: none */
    mo_gguf_type_bytes types[MO_GGUF_MAX_TYPES];
    int n_types;
} mo_gguf_model;

/* Reads the headers of input and of further shards beside it. */
mo_status mo_gguf_model_read(mo_input *input, mo_gguf_model *model,
                             mo_error *err);
void mo_gguf_model_clear(mo_gguf_model *model);

#endif
