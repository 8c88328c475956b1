/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nhwc.h - layout conversion between NCHW (N, C, spatial) and NHWC (N,
 * spatial, C), for any number of spatial dimensions.
 */
#ifndef MO_EXEC_TENSOR_NHWC_H
#define MO_EXEC_TENSOR_NHWC_H

#include "exec/tensor/dense_tensor.h"

/* desc is in NCHW order. The buffers are the caller's and do not overlap; a
 * tensor of fewer than two dimensions is copied unchanged. */
void mo_tensor_to_nhwc(const mo_tensor_desc *desc, const void *from, void *to);
void mo_tensor_to_nchw(const mo_tensor_desc *desc, const void *from, void *to);

#endif
