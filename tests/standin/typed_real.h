/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_real.h - reals of several types in memory, for stand-ins of libraries.
 */
#ifndef MO_TESTS_STANDIN_TYPED_REAL_H
#define MO_TESTS_STANDIN_TYPED_REAL_H

#include "exec/tensor/half.h"

typedef enum real_type { REAL_F32, REAL_F64, REAL_F16, REAL_BF16 } real_type;

static inline double real_load(real_type type, const void *memory, int64_t at)
{
    switch (type) {
    case REAL_F64:
        return ((const double *) memory)[at];
    case REAL_F16:
        return mo_f16_to_f32(((const uint16_t *) memory)[at]);
    case REAL_BF16:
        return mo_bf16_to_f32(((const uint16_t *) memory)[at]);
    default:
        return ((const float *) memory)[at];
    }
}

static inline void real_store(real_type type, void *memory, int64_t at,
                              double x)
{
    switch (type) {
    case REAL_F64:
        ((double *) memory)[at] = x;
        break;
    case REAL_F16:
        ((uint16_t *) memory)[at] = mo_f32_to_f16((float) x);
        break;
    case REAL_BF16:
        ((uint16_t *) memory)[at] = mo_f32_to_bf16((float) x);
        break;
    default:
        ((float *) memory)[at] = (float) x;
    }
}

#endif
