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

/* As mo_f16_to_f32(), without branches: an exponent of 5 bits becomes one of 8 by
 * a product, which is exact for subnormal numbers, too. */
static float widen_half(uint16_t half)
{
    uint32_t bits = (uint32_t) (half & 0x7fffu) << 13;
    uint32_t high = bits >= 0x0f800000u ? 0x7f800000u : 0;
    float size = mo_f32_from_bits(bits) * 0x1p112f;

    return mo_f32_from_bits(mo_f32_to_bits(size) | high |
                            (uint32_t) (half & 0x8000u) << 16);
}

enum { AT_ONCE = 16 };

/* Parts of a fixed size are converted by vector instructions. */
#define WIDEN(name, to_float)                                                  \
    static void name(const char *from, char *to, int64_t n)                    \
    {                                                                          \
        uint16_t halves[AT_ONCE];                                              \
        float x[AT_ONCE];                                                      \
        int64_t i = 0;                                                         \
                                                                               \
        for (; i + AT_ONCE <= n; i += AT_ONCE) {                               \
            memcpy(halves, from + 2 * i, sizeof halves);                       \
            for (int k = 0; k < AT_ONCE; k++)                                  \
                x[k] = to_float(halves[k]);                                    \
            memcpy(to + 4 * i, x, sizeof x);                                   \
        }                                                                      \
        for (; i < n; i++) {                                                   \
            memcpy(halves, from + 2 * i, sizeof *halves);                      \
            x[0] = to_float(halves[0]);                                        \
            memcpy(to + 4 * i, x, sizeof *x);                                  \
        }                                                                      \
    }

NARROW(narrow_f16, LARGEST_F16, mo_f32_to_f16)
NARROW(narrow_bf16, LARGEST_BF16, mo_f32_to_bf16)
WIDEN(widen_f16, widen_half)
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
