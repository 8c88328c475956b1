/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - dtype conversion between f32 and the 16-bit floats f16 and bf16.
 */
#ifndef MO_EXEC_TENSOR_CONVERT_H
#define MO_EXEC_TENSOR_CONVERT_H

#include <stdint.h>

#include "exec/tensor/elem.h"

/* Converts n floats to f16 or bf16, rounded to nearest. Finite values stay
 * finite: beyond the largest value they saturate. (A mask of -3e38 times 0
 * must not be NaN.) Both buffers may be unaligned; the caller owns them and
 * they do not overlap. */
void mo_tensor_narrow_f32(mo_elem to_elem, const void *from, void *to,
                          int64_t n);

/* The inverse, which is exact. */
void mo_tensor_widen_to_f32(mo_elem from_elem, const void *from, void *to,
                            int64_t n);

#endif
