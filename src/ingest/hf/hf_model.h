/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hf_model.h - decoder made of a config.json and the tensors of its folder.
 */
#ifndef MO_INGEST_HF_HF_MODEL_H
#define MO_INGEST_HF_HF_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/hf/safetensors.h"
#include "ingest/llm/model.h"
#include "ingest/llm/summary.h"

/* The caller clears it, also after a failure. */
typedef struct mo_hf_model {
    mo_llm_model model;
    mo_llm_summary summary; /* its types, shards and draft layers */
    mo_hf_tensors tensors;
    int64_t hidden;  /* elements of a token between layers; 0: not given */
    mo_arena *arena; /* of the texts */
} mo_hf_model;

mo_status mo_hf_model_init(mo_hf_model *made, mo_error *err);
void mo_hf_model_clear(mo_hf_model *made);

/* Fills the model from size bytes of config at text, which ends in 0, and from
 * the tensors that it has. */
mo_status mo_hf_model_make(const char *file, const char *text, size_t size,
                           mo_hf_model *made, mo_error *err);

/* Replaces the tensors, some of which are not understood, by one op for each
 * layer, as large as all of the layer. */
mo_status mo_hf_model_by_layer(mo_hf_model *made, mo_error *err);

#endif
