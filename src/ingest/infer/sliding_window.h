/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sliding_window.h - window arithmetic of convolutions and poolings:
 * attributes, padding, number of positions.
 */
#ifndef MO_INGEST_INFER_SLIDING_WINDOW_H
#define MO_INGEST_INFER_SLIDING_WINDOW_H

#include "ingest/infer/rule.h"

enum { MO_INFER_WINDOW_MAX = 3 }; /* spatial dimensions */

typedef enum mo_infer_window_pad {
    MO_INFER_PAD_EXPLICIT,
    MO_INFER_PAD_VALID,
    MO_INFER_PAD_SAME /* same_upper and same_lower: as many outputs as
                   strides fit into the input */
} mo_infer_window_pad;

typedef enum mo_infer_window_round {
    MO_INFER_ROUND_FLOOR,
    MO_INFER_ROUND_CEIL,
    MO_INFER_ROUND_CEIL_TORCH /* as ceil, but no window starts in the padding
                           behind the input */
} mo_infer_window_round;

/* The attributes of n spatial dimensions. */
typedef struct mo_infer_window {
    int n;
    mo_infer_window_pad pad;
    mo_infer_window_round round;
    int64_t stride[MO_INFER_WINDOW_MAX], dilation[MO_INFER_WINDOW_MAX];
    int64_t begin[MO_INFER_WINDOW_MAX], end[MO_INFER_WINDOW_MAX];
} mo_infer_window;

/* Reads strides, dilations, pads, auto_pad and rounding_type. */
mo_status mo_infer_window_read(const mo_infer_rule_op *op, int n,
                               mo_infer_window *window, mo_error *err);

/* *size = the items that a kernel spans when it is dilated. */
mo_status mo_infer_window_span(const mo_infer_window *window, int d,
                               int64_t kernel, int64_t *size, mo_error *err);

/* Sets *out to the number of positions of the kernel along dim items of
 * dimension d. */
mo_status mo_infer_window_count(const mo_infer_window *window, int d,
                                int64_t dim, int64_t kernel, int64_t *out,
                                mo_error *err);

#endif
