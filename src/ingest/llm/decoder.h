/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder.h - a decoder that can be run: its weights in files, and the
 * hyper-parameters of its arithmetic.
 *
 * A decoder of llama's kind: RMS norms before both halves of a layer, attention
 * with grouped queries or over a latent, rotary positions (Su et al., 2021), a
 * gated feed-forward part, perhaps of experts; what differs between
 * architectures is here.
 */
#ifndef MO_INGEST_LLM_DECODER_H
#define MO_INGEST_LLM_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/llm/ggml_type.h"
#include "ingest/llm/model.h"
#include "ingest/llm/options.h"

typedef enum mo_llm_activation {
    MO_LLM_SILU,
    MO_LLM_GELU,
    MO_LLM_CLAMPED_SILU /* gate x sigmoid(1.702 gate) x (up + 1), both clamped
                           at 7 */
} mo_llm_activation;

/* A tensor in a file. */
typedef struct mo_llm_weight {
    const char *name; /* "blk.7.ffn_down.weight" */
    const char *file; /* in the folder of the model */
    const mo_llm_type *type;
    int64_t dims[4]; /* the innermost first; 1 behind the last */
    int64_t offset, bytes;
    bool is_used; /* the graph reads it */
} mo_llm_weight;

/* Texts and arrays are the reader's. */
typedef struct mo_llm_decoder {
    const mo_llm_model *model;
    mo_llm_weight *weights; /* sorted by name */
    size_t n_weights;
    double eps; /* of norms */
    /* Rotary positions: of the first elements of a head, in pairs. */
    int64_t rotated;
    bool pairs_halves; /* i and i + rotated / 2; else 2 i and 2 i + 1 */
    double rope_base, rope_scale;
    double window_rope_base, window_rope_scale; /* of layers with a window */
    double rope_amplitude;                      /* of cosines and sines */
    int64_t rope_context;  /* that the model was trained with at first */
    bool has_rope_factors; /* weights that divide frequencies: rope_freqs, or
                              rope_factors_long for a longer context than that
                              one, else rope_factors_short */
    bool yarn; /* positions are scaled by frequency (Peng et al., 2023): */
    double yarn_fast, yarn_slow; /* turns within that context, above and below
                                    which they are not and are */
    double attention_scale;      /* of scores */
    double embedding_scale;      /* 1: none */
    mo_llm_activation activation;
    bool is_latent; /* keys and values are made of a latent (DeepSeek-V2) */
    /* Weights of chosen experts: the softmax of logits, or their sigmoid,
     * divided by the sum of those chosen, or not; scaled. */
    bool experts_sigmoid, experts_norm;
    double experts_scale;
} mo_llm_decoder;

enum { MO_LLM_PREFILL, MO_LLM_DECODE, MO_LLM_N_PHASES };

/*
 * Makes the graphs that run: of the prompt, and of one token behind it.  Inputs
 * are the ids [1, tokens] and the position [1]; the output is the logits of the
 * next token; keys and values of each layer are states with room for the
 * context.
 *
 * An op belongs to the op of the placed graph (llm_graph.h) that its name
 * begins with, up to a '/'; one whose name begins with '/' to none: it is
 * computed wherever it is read.
 *
 * Fails with MO_E_SUPPORT for weights and caches of other types than f32, f16,
 * bf16, and for tensors that are not used.  The caller frees the graphs.
 */
mo_status mo_llm_decoder_make(mo_llm_decoder *decoder,
                              const mo_llm_options *options,
                              mo_graph *graphs[MO_LLM_N_PHASES], mo_error *err);

#endif
