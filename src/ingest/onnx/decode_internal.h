/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_internal.h - parts of the decoder of ONNX models: bytes, texts and
 * numbers (decode_stream.c), tensors (decode_tensor.c), types, nodes and graphs
 * (decode_graph.c), the model (decode.c).
 *
 * Functions on a stream are callbacks of nanopb: arg is a mo_onnx_target, field
 * is not read, and false ends the decoding.
 */
#ifndef MO_INGEST_ONNX_DECODE_INTERNAL_H
#define MO_INGEST_ONNX_DECODE_INTERNAL_H

#include "ingest/onnx/model.h"

#ifdef HAVE_NANOPB

#include <pb_decode.h>

typedef struct mo_onnx_decoder {
    mo_input *input;
    const pb_istream_t *top;
    const char *block;
    size_t n_block;
    int64_t offset; /* of block in the file */
    mo_arena *arena;
    mo_onnx_model *model;
    mo_error *err;
    mo_status status; /* of the first failure that is not nanopb's */
    int depth;        /* of graphs in attributes */
} mo_onnx_decoder;

/* What a callback writes to. */
typedef struct mo_onnx_target {
    mo_onnx_decoder *d;
    void *to;
} mo_onnx_target;

typedef struct mo_onnx_text_list {
    const char **items;
    size_t n;
} mo_onnx_text_list;

typedef struct mo_onnx_number_list {
    int64_t *ints;
    double *reals;
    size_t n_ints, n_reals;
} mo_onnx_number_list;

typedef struct mo_onnx_attribute_list {
    mo_onnx_attribute *items;
    size_t n;
} mo_onnx_attribute_list;

typedef struct mo_onnx_node_list {
    mo_onnx_node *items;
    size_t n;
} mo_onnx_node_list;

/* decode_stream.c */

/* Record a failure; return false. */
bool mo_onnx_decode_fail(mo_onnx_decoder *d, mo_status status,
                         const char *text);
bool mo_onnx_decode_fail_memory(mo_onnx_decoder *d);

/* The stream's source: the next bytes of the file, skipped where to is NULL. */
bool mo_onnx_decode_bytes(pb_istream_t *stream, pb_byte_t *to, size_t count);
/* Returns whether the bytes of a stream are those of the file at d->offset. */
bool mo_onnx_decode_is_file(const pb_istream_t *stream);
/* Consumes the rest of a stream. */
bool mo_onnx_decode_skip(pb_istream_t *stream);

/* Returns room for one more item of an array in the arena, zeroed; NULL
 * without memory. */
void *mo_onnx_decode_append(mo_onnx_decoder *d, void **items, size_t *n,
                            size_t size);
#define MO_ONNX_APPEND(d, items, n)                                            \
    mo_onnx_decode_append((d), (void **) &(items), &(n), sizeof *(items))

/* Callbacks: to is a const char *, a mo_onnx_text_list, a size_t that counts
 * texts, a mo_onnx_number_list (twice). */
bool mo_onnx_decode_text(pb_istream_t *stream, const pb_field_t *field,
                         void **arg);
bool mo_onnx_decode_texts(pb_istream_t *stream, const pb_field_t *field,
                          void **arg);
bool mo_onnx_decode_count(pb_istream_t *stream, const pb_field_t *field,
                          void **arg);
bool mo_onnx_decode_ints(pb_istream_t *stream, const pb_field_t *field,
                         void **arg);
bool mo_onnx_decode_floats(pb_istream_t *stream, const pb_field_t *field,
                           void **arg);
bool mo_onnx_decode_real(mo_onnx_decoder *d, mo_onnx_number_list *list,
                         double value);

/* decode_tensor.c */

bool mo_onnx_decode_tensor_into(mo_onnx_decoder *d, pb_istream_t *stream,
                                mo_onnx_tensor *tensor);
/* Callback: to is a const mo_onnx_tensor *. */
bool mo_onnx_decode_tensor(pb_istream_t *stream, const pb_field_t *field,
                           void **arg);

/* decode_graph.c */

/* Callbacks: to is a const mo_onnx_graph *, a mo_onnx_node_list, a
 * mo_onnx_attribute_list. */
bool mo_onnx_decode_graph(pb_istream_t *stream, const pb_field_t *field,
                          void **arg);
bool mo_onnx_decode_node(pb_istream_t *stream, const pb_field_t *field,
                         void **arg);
bool mo_onnx_decode_attribute(pb_istream_t *stream, const pb_field_t *field,
                              void **arg);

#endif

#endif
