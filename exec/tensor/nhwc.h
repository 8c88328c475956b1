/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lay.h - tensors turned from the order of their shape (N, C, spatial) to
 * channels last (N, spatial, C) and back.
 */
#ifndef MO_EXEC_TENSOR_NHWC_H
#define MO_EXEC_TENSOR_NHWC_H

#include "exec/tensor/dense_tensor.h"

/* from and to do not overlap; a tensor of fewer than two dimensions is copied
 * as it is. */
void mo_tensor_to_nhwc(const mo_tensor_desc *desc, const void *from, void *to);
void mo_tensor_to_nchw(const mo_tensor_desc *desc, const void *from, void *to);

#endif
