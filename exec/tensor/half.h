/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.h - conversion between float and the 16-bit formats f16 (IEEE 754
 * binary16) and bf16. To 16 bits: rounded to nearest, ties to even; NaN stays
 * NaN.
 */
#ifndef MO_EXEC_TENSOR_HALF_H
#define MO_EXEC_TENSOR_HALF_H

#include <stdint.h>
#include <string.h>

static inline float mo_f32_from_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t mo_f32_to_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float mo_bf16_to_f32(uint16_t h)
{
    return mo_f32_from_bits((uint32_t) h << 16);
}

static inline uint16_t mo_f32_to_bf16(float x)
{
    uint32_t bits = mo_f32_to_bits(x);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t) (bits >> 16 | 0x40u);
    return (uint16_t) ((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* Shifted into a float's place the exponent is 112 too small; one
 * multiplication corrects it, and normalizes subnormal numbers. */
static inline float mo_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t) (h & 0x8000u) << 16;
    uint32_t rest = (uint32_t) (h & 0x7fffu) << 13;
    float x;

    if ((h & 0x7c00u) == 0x7c00u)
        return mo_f32_from_bits(sign | 0x7f800000u | rest);
    x = mo_f32_from_bits(rest) * 0x1p112f;
    return mo_f32_from_bits(sign | mo_f32_to_bits(x));
}

/*
 * An f16 has 10 bits behind the point and exponents from -14 to 15.
 *
 *     |x| below 2^-14    subnormal: multiples of 2^-24.  The floats from 0.5 to
 *                        1 are just those apart, so adding 0.5 rounds, and the
 *                        bits beyond those of 0.5 are the result.
 *     |x| below 65536    13 bits are cut off: add half of the last that stays
 *                        (a little less when it is even), the carry may run
 *                        into the exponent and even to infinity.
 *     else               infinity, or NaN.
 *
 * All three are computed and one is selected, so that loops can be vectorized.
 */
static inline uint16_t mo_f32_to_f16(float x)
{
    uint32_t bits = mo_f32_to_bits(x);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t size = bits & 0x7fffffffu;
    uint32_t small =
        mo_f32_to_bits(mo_f32_from_bits(size) + 0.5f) - mo_f32_to_bits(0.5f);
    uint32_t normal = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    uint32_t large = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t half = size < 113u << 23 ? small : normal;

    return (uint16_t) (sign | (size >= 143u << 23 ? large : half));
}

#endif
