/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/convert.h"

#include <assert.h>
#include <string.h>

#include "exec/tensor/half.h"

/* Largest finite values. */
#define LARGEST_F16  65504.0f
#define LARGEST_BF16 0x1.fep127f

enum { LARGEST_FLOAT_BITS = 0x7f7fffff };

/* Saturates finite values; infinities and NaN stay. */
static float saturate(float x, float largest)
{
    float size = mo_f32_from_bits(mo_f32_to_bits(x) & 0x7fffffffu);
    float closest = x < 0 ? -largest : largest;
    float finite = mo_f32_from_bits(LARGEST_FLOAT_BITS);

    return size > largest && size <= finite ? closest : x;
}

/* Elements may be unaligned: tensors begin at any offset of a file. */
#define NARROW(name, largest, of_float)                                        \
    static void name(const char *from, char *to, int64_t n)                    \
    {                                                                          \
        for (int64_t i = 0; i < n; i++) {                                      \
            uint16_t half;                                                     \
            float x;                                                           \
                                                                               \
            memcpy(&x, from + 4 * i, sizeof x);                                \
            half = of_float(saturate(x, largest));                             \
            memcpy(to + 2 * i, &half, sizeof half);                            \
        }                                                                      \
    }

#define WIDEN(name, to_float)                                                  \
    static void name(const char *from, char *to, int64_t n)                    \
    {                                                                          \
        for (int64_t i = 0; i < n; i++) {                                      \
            uint16_t half;                                                     \
            float x;                                                           \
                                                                               \
            memcpy(&half, from + 2 * i, sizeof half);                          \
            x = to_float(half);                                                \
            memcpy(to + 4 * i, &x, sizeof x);                                  \
        }                                                                      \
    }

NARROW(narrow_f16, LARGEST_F16, mo_f32_to_f16)
NARROW(narrow_bf16, LARGEST_BF16, mo_f32_to_bf16)
WIDEN(widen_f16, mo_f16_to_f32)
WIDEN(widen_bf16, mo_bf16_to_f32)

void mo_tensor_narrow_f32(mo_elem to_elem, const void *from, void *to,
                          int64_t n)
{
    assert(to_elem == MO_ELEM_F16 || to_elem == MO_ELEM_BF16);
    if (to_elem == MO_ELEM_F16)
        narrow_f16(from, to, n);
    else
        narrow_bf16(from, to, n);
}

void mo_tensor_widen_to_f32(mo_elem from_elem, const void *from, void *to,
                            int64_t n)
{
    assert(from_elem == MO_ELEM_F16 || from_elem == MO_ELEM_BF16);
    if (from_elem == MO_ELEM_F16)
        widen_f16(from, to, n);
    else
        widen_bf16(from, to, n);
}
