/* SPDX-License-Identifier: Apache-2.0 */
/* Prelude, part 2: bit casts, and conversions of f16 and bf16.  The CPU branch
 * rounds like exec/tensor/half.h. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/prelude_launch.cuh"
/* example:end */
MO_DEVICE float mo_float_of(unsigned bits)
{
#ifdef MO_ON_CPU
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
#else
    return __uint_as_float(bits);
#endif
}
MO_DEVICE unsigned mo_bits_of(float x)
{
#ifdef MO_ON_CPU
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#else
    return __float_as_uint(x);
#endif
}
MO_DEVICE double mo_double_of(unsigned long long bits)
{
#ifdef MO_ON_CPU
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
#else
    return __longlong_as_double((long long) bits);
#endif
}
MO_DEVICE unsigned long long mo_bits_of_double(double x)
{
#ifdef MO_ON_CPU
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#else
    return (unsigned long long) __double_as_longlong(x);
#endif
}

typedef struct mo_f16 { unsigned short bits; } mo_f16;
typedef struct mo_bf16 { unsigned short bits; } mo_bf16;

MO_DEVICE float mo_f16_load(mo_f16 h)
{
#ifdef MO_ON_CPU
    unsigned sign = (unsigned) (h.bits & 0x8000u) << 16;
    unsigned rest = (unsigned) (h.bits & 0x7fffu) << 13;
    if ((h.bits & 0x7c00u) == 0x7c00u)
        return mo_float_of(sign | 0x7f800000u | rest);
    return mo_float_of(sign | mo_bits_of(mo_float_of(rest) * 0x1p112f));
#else
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h.bits));
    return x;
#endif
}
MO_DEVICE mo_f16 mo_f16_store(float x)
{
    mo_f16 h;
#ifdef MO_ON_CPU
    unsigned bits = mo_bits_of(x), sign = bits >> 16 & 0x8000u;
    unsigned size = bits & 0x7fffffffu;
    if (size > 0x7f800000u)
        size = 0x7e00u;
    else if (size >= 143u << 23)
        size = 0x7c00u;
    else if (size < 113u << 23)
        size = mo_bits_of(mo_float_of(size) + 0.5f) - mo_bits_of(0.5f);
    else
        size = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    h.bits = (unsigned short) (sign | size);
#else
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
#endif
    return h;
}
MO_DEVICE float mo_bf16_load(mo_bf16 h)
{
    return mo_float_of((unsigned) h.bits << 16);
}
MO_DEVICE mo_bf16 mo_bf16_store(float x)
{
    mo_bf16 h;
#if !defined(MO_ON_CPU) && MO_ARCH >= 90
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
#else
    unsigned bits = mo_bits_of(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        h.bits = (unsigned short) (bits >> 16 | 0x40u);
    else
        h.bits = (unsigned short)
            ((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
    return h;
}
MO_DEVICE unsigned mo_f16_pack(float low, float high)
{
    unsigned low16 = mo_f16_store(low).bits;
    return low16 | (unsigned) mo_f16_store(high).bits << 16;
}
MO_DEVICE unsigned mo_bf16_pack(float low, float high)
{
    unsigned low16 = mo_bf16_store(low).bits;
    return low16 | (unsigned) mo_bf16_store(high).bits << 16;
}
MO_DEVICE float mo_f16_low(unsigned pair)
{
    mo_f16 h;
    h.bits = (unsigned short) pair;
    return mo_f16_load(h);
}
MO_DEVICE float mo_f16_high(unsigned pair)
{
    mo_f16 h;
    h.bits = (unsigned short) (pair >> 16);
    return mo_f16_load(h);
}
MO_DEVICE float mo_bf16_low(unsigned pair)
{
    return mo_float_of(pair << 16);
}
MO_DEVICE float mo_bf16_high(unsigned pair)
{
    return mo_float_of(pair & 0xffff0000u);
}
