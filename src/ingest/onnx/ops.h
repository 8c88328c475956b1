/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - layers that several translators of ONNX operators add. A layer that
 * would change nothing is not added.
 */
#ifndef MO_INGEST_ONNX_OPS_H
#define MO_INGEST_ONNX_OPS_H

#include "ingest/onnx/builder.h"

/* Returns the axis counted from the front; refuses one out of range. */
int mo_onnx_axis(mo_onnx_builder *b, int64_t axis, int rank);

mo_onnx_ref mo_onnx_unary(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                          const char *dtype);
mo_onnx_ref mo_onnx_binary(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                           mo_onnx_ref y, const char *dtype);
/* x and a number of its type. */
mo_onnx_ref mo_onnx_with_number(mo_onnx_builder *b, const char *type,
                                mo_onnx_ref x, double number);
mo_onnx_ref mo_onnx_convert(mo_onnx_builder *b, mo_onnx_ref x,
                            const char *dtype);
/* Returns x with halves converted to f32, for results that halves cannot hold
 * on the way. */
mo_onnx_ref mo_onnx_widen(mo_onnx_builder *b, mo_onnx_ref x);
mo_onnx_ref mo_onnx_select(mo_onnx_builder *b, mo_onnx_ref condition,
                           mo_onnx_ref yes, mo_onnx_ref no);

mo_onnx_ref mo_onnx_reshape(mo_onnx_builder *b, mo_onnx_ref x,
                            const mo_shape *shape);
/* Without the axes marked, which have one element. */
mo_onnx_ref mo_onnx_squeeze(mo_onnx_builder *b, mo_onnx_ref x,
                            const bool marks[MO_MAX_RANK]);
/* A list, one for each channel, so that it broadcasts over rank dimensions. */
mo_onnx_ref mo_onnx_channels(mo_onnx_builder *b, mo_onnx_ref x, int rank);
mo_onnx_ref mo_onnx_transpose(mo_onnx_builder *b, mo_onnx_ref x,
                              const int64_t *order);
mo_onnx_ref mo_onnx_broadcast(mo_onnx_builder *b, mo_onnx_ref x,
                              const mo_shape *shape);
/* Integers first, first + 1, ... along one of rank axes. */
mo_onnx_ref mo_onnx_count_along(mo_onnx_builder *b, int64_t first, int64_t n,
                                int axis, int rank);
/* Elements from start to stop (excluded) along an axis. */
mo_onnx_ref mo_onnx_cut(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                        int64_t start, int64_t stop);
mo_onnx_ref mo_onnx_concat(mo_onnx_builder *b, const mo_onnx_ref *parts, int n,
                           int axis);
/* With zeros in front of and behind each axis; lists have as many numbers as
 * x dimensions. */
mo_onnx_ref mo_onnx_add_pad(mo_onnx_builder *b, mo_onnx_ref x,
                            const int64_t *begin, const int64_t *end);
mo_onnx_ref mo_onnx_reduce(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                           const bool marks[MO_MAX_RANK], bool keep);
mo_onnx_ref mo_onnx_softmax(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                            int axis);
mo_onnx_ref mo_onnx_matmul(mo_onnx_builder *b, mo_onnx_ref x, mo_onnx_ref y,
                           bool transpose_x, bool transpose_y);
/* (x - mean) / sqrt(variance + epsilon) over all dimensions from axis on. */
mo_onnx_ref mo_onnx_normalize(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                              double epsilon);

#endif
