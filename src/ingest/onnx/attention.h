/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.h - scaled dot-product attention, which several operators of ONNX
 * and of ONNX Runtime describe.
 */
#ifndef MO_INGEST_ONNX_ATTENTION_H
#define MO_INGEST_ONNX_ATTENTION_H

#include "ingest/onnx/translate.h"

typedef struct mo_onnx_attention {
    /* [batch, heads, steps, width]; keys and values begin with those of the
     * past, and several heads of queries may share one of them. */
    mo_onnx_ref q, k, v;
    mo_onnx_ref mask;    /* booleans, or numbers to add; or MO_ONNX_NONE */
    mo_onnx_ref lengths; /* of keys by batch, the last ones are those of the
                            queries; MO_ONNX_NONE: all keys */
    int64_t before;      /* keys before the first query, without lengths */
    bool causal;
    int64_t left, right; /* window of keys around a query; -1: open */
    double scale;        /* 0: 1 / sqrt(width) */
    double softcap;      /* limit of the scores; 0: none */
    bool scores;         /* set output 3 of the node to them */
} mo_onnx_attention;

/* [batch, steps, heads x width] -> [batch, heads, steps, width]; what has four
 * dimensions is returned as it is. */
mo_onnx_ref mo_onnx_split_heads(mo_onnx_op *op, mo_onnx_ref x, int64_t heads);
/* The inverse. */
mo_onnx_ref mo_onnx_join_heads(mo_onnx_builder *b, mo_onnx_ref y);

/* Returns [batch, heads, steps, width]: 0 where masks leave a query no key. */
mo_onnx_ref mo_onnx_attend(mo_onnx_op *op, const mo_onnx_attention *a);

/* Rotary position embedding: pairs of elements of each head are turned by
 * angles. */
typedef struct mo_onnx_rotary {
    mo_onnx_ref x; /* [batch, steps, heads x width], or [batch, heads, steps,
                      width] */
    mo_onnx_ref cosines, sines; /* [positions, pairs], or without positions
                                   [batch, steps, pairs] */
    mo_onnx_ref positions;      /* [batch, steps] */
    int64_t heads;              /* of x with three dimensions */
    int64_t width;              /* elements of a head that are turned; 0: all */
    bool neighbours; /* pairs are neighbours; otherwise halves of the head */
} mo_onnx_rotary;

mo_onnx_ref mo_onnx_rotate(mo_onnx_builder *b, const mo_onnx_rotary *r);

#endif
