/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the ops of a decoder layer, one row each, as a program over
 * registers.
 *
 * A layer of any architecture runs the rows whose tensors it has, in order.  A
 * register holds the ops that wrote it last; x is the residual stream, h its
 * normalized form.  A row reads the registers that are not empty.
 */
#ifndef MO_INGEST_LLM_ROWS_H
#define MO_INGEST_LLM_ROWS_H

#include <stddef.h>

typedef enum mo_llm_kind {
    MO_LLM_EMBED,   /* gathers rows of a table */
    MO_LLM_LINEAR,  /* product with a weight */
    MO_LLM_HEADS,   /* a product for each head */
    MO_LLM_EXPERTS, /* products with the weights of chosen experts */
    MO_LLM_NORM,
    MO_LLM_CONV, /* of the last few tokens, channel by channel */
    MO_LLM_SCAN, /* recurrence of a state space */
    MO_LLM_ROPE, /* rotary embedding */
    MO_LLM_ATTENTION,
    MO_LLM_ACT,  /* activation of a gate, times the other operand; as wide
                    as the input of the row `with` */
    MO_LLM_TOPK, /* choice of experts */
    MO_LLM_SUM,  /* of the outputs of experts, weighted */
    MO_LLM_ADD,  /* to the residual stream */
    MO_LLM_PART  /* no op: a tensor of the op of the row `with` */
} mo_llm_kind;

typedef struct mo_llm_row {
    const char *role; /* of the tensor, or what the op is called */
    mo_llm_kind kind;
    const char *reads; /* registers, the main one first */
    char writes;
    const char *with;
} mo_llm_row;

/* Rows of a layer, and those of no layer: up to MO_LLM_NORM of the embedding
 * before the layers, the others behind them.  Both end with a role of NULL and
 * have fewer than MO_LLM_MAX_ROWS. */
extern const mo_llm_row mo_llm_layer_rows[], mo_llm_model_rows[];
enum { MO_LLM_MAX_ROWS = 96, MO_LLM_FIRST_TAIL_ROW = 7 };

/* Returns the number of the first row of a role, or -1. */
int mo_llm_row_find(const mo_llm_row *rows, const char *role, size_t length);

#endif
