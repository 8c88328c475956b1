/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - sliding windows of ONNX's convolutions and pools, for translators
 * of several files. Functions that fail record it in the builder.
 */
#ifndef MO_INGEST_ONNX_WINDOW_H
#define MO_INGEST_ONNX_WINDOW_H

#include "ingest/onnx/translate.h"

/* A kernel that slides over an image: its sizes along each spatial axis. */
typedef struct mo_onnx_window {
    int n;
    int64_t kernel[MO_MAX_RANK], stride[MO_MAX_RANK], dilation[MO_MAX_RANK];
    int64_t begin[MO_MAX_RANK], end[MO_MAX_RANK]; /* pads */
} mo_onnx_window;

/* Fills w from the attributes; its n and kernel are set, image has the n
 * spatial sizes. */
void mo_onnx_read_window(mo_onnx_op *op, const int64_t *image,
                         mo_onnx_window *w);
/* The window of a convolution: its kernel is that of input number weights; of
 * a pool. Return whether the builder goes on. */
bool mo_onnx_read_conv_window(mo_onnx_op *op, int weights, mo_onnx_window *w);
bool mo_onnx_read_pool_window(mo_onnx_op *op, mo_onnx_window *w);
/* Sets strides, dilations and pads as attributes of the next layer. */
void mo_onnx_set_window(mo_onnx_builder *b, const mo_onnx_window *w);

/* Adds a convolution, and a bias unless it is MO_ONNX_NONE. */
mo_onnx_ref mo_onnx_convolve(mo_onnx_op *op, mo_onnx_ref x, mo_onnx_ref weights,
                             const mo_onnx_window *w, int64_t groups,
                             mo_onnx_ref bias);

#endif
