/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - a decoder (large language model) as the header of its file
 * describes it: tensors by layer and role, and hyper-parameters.
 *
 * Readers of files fill the model, and llm_graph.h makes a graph of it.  Roles
 * are GGUF's names of tensors without layer and suffix: "attn_q",
 * "ffn_down_exps".
 */
#ifndef MO_INGEST_LLM_MODEL_H
#define MO_INGEST_LLM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { MO_LLM_MAX_LAYERS = 1024, MO_LLM_NO_LAYER = -1 };

/* A weight with its bias and scales; name NULL: there is none. */
typedef struct mo_llm_tensor {
    const char *name; /* of the op it belongs to: "blk.7.ffn_down" */
    int64_t dims[3];  /* inputs, outputs, experts or heads; 1 where it has
                         fewer dimensions */
    int64_t elements; /* of the weight */
    int64_t bytes;    /* of all */
    bool is_used;     /* an op of the graph has it */
} mo_llm_tensor;

typedef struct mo_llm_layer {
    int64_t heads, kv_heads; /* 0: not known */
    int64_t window; /* of sliding-window attention, in tokens; 0: none */
} mo_llm_layer;

/* Names are the reader's; the arena owns the arrays. */
typedef struct mo_llm_model {
    const char *file;
    const char *architecture; /* "llama" */
    const char *title;        /* or NULL */
    const char *layer_prefix; /* of names of ops: "blk." */
    const char *dtype;        /* of activations: "f16" */
    mo_llm_layer *layers;
    int n_layers;
    mo_llm_tensor *tensors; /* by layer, the ones of none first, and role */
    char unknown[400];      /* names of tensors without a role */
    int n_unknown;

    /* Hyper-parameters; 0: not given. */
    int64_t context;      /* the longest */
    int64_t key_length;   /* of a head */
    int64_t experts_used; /* for each token */
    int64_t ssm_state;    /* of a state space, per channel */
    bool caches_latent;   /* of latent attention, whatever its tensors */
    mo_arena *arena;
} mo_llm_model;

/* Allocates layers and tensors for n_layers, all zeros. */
mo_status mo_llm_model_init(mo_llm_model *model, int n_layers, mo_error *err);
void mo_llm_model_clear(mo_llm_model *model);

/* Adds a tensor to that of its layer (MO_LLM_NO_LAYER: of none) and role: the
 * bytes add up, and all else is that of the larger weight.  One of an unknown
 * role is listed in model->unknown.  Fails when a sum overflows. */
mo_status mo_llm_model_add(mo_llm_model *model, int layer, const char *role,
                           size_t role_length, const mo_llm_tensor *tensor,
                           mo_error *err);

/* Returns the tensor of a layer and the role, or NULL. */
mo_llm_tensor *mo_llm_model_find(const mo_llm_model *model, int layer,
                                 const char *role);

/* The same of the row of that number (rows.h). */
mo_llm_tensor *mo_llm_model_at(const mo_llm_model *model, int layer, int row);

/* Appends a name to model->unknown, up to its size. */
void mo_llm_model_add_unknown(mo_llm_model *model, const char *name);

#endif
