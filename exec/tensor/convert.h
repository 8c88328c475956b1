/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow.h - floats as sixteen-bit ones, and back.
 */
#ifndef MO_EXEC_TENSOR_CONVERT_H
#define MO_EXEC_TENSOR_CONVERT_H

#include <stdint.h>

#include "exec/tensor/elem.h"

/* n floats to f16 or bf16, rounded to nearest.  What is finite stays so: beyond
 * the largest number it is that number.  (A mask of -3e38 times 0 must not be
 * NaN.)  to may be unaligned, and so may from. */
void mo_tensor_narrow_f32(mo_elem to_elem, const void *from, void *to,
                          int64_t n);

/* And back, exactly. */
void mo_tensor_widen_to_f32(mo_elem from_elem, const void *from, void *to,
                            int64_t n);

#endif
