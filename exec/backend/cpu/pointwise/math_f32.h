/* SPDX-License-Identifier: Apache-2.0 */
/*
 * math_f32.h - elementary functions of floats without branches or calls, so
 * that loops over them vectorize.
 *
 * Accurate to about two ULP (a test compares them with the math library over
 * their whole range); infinities and NaN follow IEEE 754. Polynomials are
 * minimax fits; long ones are evaluated in halves (Estrin), which do not wait
 * for each other.
 */
#ifndef MO_EXEC_BACKEND_CPU_POINTWISE_MATH_F32_H
#define MO_EXEC_BACKEND_CPU_POINTWISE_MATH_F32_H

#include "exec/backend/cpu/unit/multiversion.h"

#include <math.h>
#include <stdbool.h>

#include "exec/tensor/half.h"

/* Adding it rounds a small float to an integer in the lowest bits. */
#define MO_CPU_ROUND_MAGIC_F32 0x1.8p23f

/* 2^k for k from -126 to 127. */
MO_CPU_INLINE float mo_cpu_exp2i_f32(uint32_t k)
{
    return mo_f32_from_bits((k + 127u) << 23);
}

/* Range reduction x = k ln 2 + r with |r| at most half of ln 2: returns e^r -
 * 1; ln 2 is split in two parts, so that their product with k is exact. */
MO_CPU_INLINE float mo_cpu_exp_reduce_f32(float x, uint32_t *k)
{
    float shifted = x * 0x1.715476p0f + MO_CPU_ROUND_MAGIC_F32;
    float turns = shifted - MO_CPU_ROUND_MAGIC_F32;
    float r = (x - turns * 0x1.62e4p-1f) - turns * 0x1.7f7d1cp-20f;
    float s = r * r, low = 0x1.55548ep-3f * r + 0x1p-1f;
    float high = 0x1.123b52p-7f * r + 0x1.55545ep-5f;

    *k = mo_f32_to_bits(shifted) - mo_f32_to_bits(MO_CPU_ROUND_MAGIC_F32);
    return r + s * (low + s * (high + s * 0x1.6db424p-10f));
}

/* The result is scaled in two steps: 2^k alone may overflow or underflow where
 * the result does not. */
MO_CPU_INLINE float mo_cpu_exp_f32(float x)
{
    float bounded = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    uint32_t k, half;
    float e = mo_cpu_exp_reduce_f32(bounded, &k) + 1.0f;

    half = (uint32_t) ((int32_t) k >> 1);
    return e * mo_cpu_exp2i_f32(half) * mo_cpu_exp2i_f32(k - half);
}

/* The same for x up to 0: 2^(k + 64) neither overflows nor underflows. */
MO_CPU_INLINE float mo_cpu_exp_down_f32(float x)
{
    uint32_t k;
    float e = mo_cpu_exp_reduce_f32(x < -104.0f ? -104.0f : x, &k) + 1.0f;

    return e * mo_cpu_exp2i_f32(k + 64u) * 0x1p-64f;
}

/* e^x - 1, accurate for small x; for x up to 80. */
MO_CPU_INLINE float mo_cpu_expm1_f32(float x)
{
    float bounded = x < -40.0f ? -40.0f : x > 80.0f ? 80.0f : x;
    uint32_t k;
    float e = mo_cpu_exp_reduce_f32(bounded, &k), scale = mo_cpu_exp2i_f32(k);

    return k == 0 ? e : e * scale + (scale - 1.0f);
}

/* x is 2^k (1 + f) with 1 + f between the roots of 1/2 and 2. */
MO_CPU_INLINE float mo_cpu_log_f32(float x)
{
    float normal = x < 0x1p-126f ? x * 0x1p23f : x;
    uint32_t bits = mo_f32_to_bits(normal) - 0x3f3504f3u;
    float k = (float) ((int32_t) bits >> 23) - (x < 0x1p-126f ? 23.0f : 0.0f);
    float f = mo_f32_from_bits((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float p = 0x1.1b417cp-4f, result;

    p = p * f - 0x1.e2e962p-4f;
    p = p * f + 0x1.e65112p-4f;
    p = p * f - 0x1.fb4340p-4f;
    p = p * f + 0x1.2332b8p-3f;
    p = p * f - 0x1.5562e2p-3f;
    p = p * f + 0x1.99a546p-3f;
    p = p * f - 0x1.ffffeep-3f;
    p = p * f + 0x1.555546p-2f;
    p = p * f * f * f - 0.5f * f * f;
    result = k * 0x1.62e4p-1f + (f + (p + k * 0x1.7f7d1cp-20f));
    result = x > 0.0f ? result : mo_f32_from_bits(0x7fc00000u);
    result = x == 0.0f ? mo_f32_from_bits(0xff800000u) : result;
    return x > 0x1.fffffep127f ? x : result;
}

/* log(1 + u) for u from 0 to 1: the rounding error of 1 + u cancels in the
 * quotient. */
MO_CPU_INLINE float mo_cpu_log1p_f32(float u)
{
    float w = 1.0f + u, d = w - 1.0f;
    float l = mo_cpu_log_f32(w);

    return d == 0.0f ? u : l * (u / d);
}

MO_CPU_INLINE float mo_cpu_abs_f32(float x)
{
    return mo_f32_from_bits(mo_f32_to_bits(x) & 0x7fffffffu);
}

/* Magnitude of one, sign of the other. */
MO_CPU_INLINE float mo_cpu_copysign_f32(float size, float sign)
{
    return mo_f32_from_bits((mo_f32_to_bits(size) & 0x7fffffffu) |
                            (mo_f32_to_bits(sign) & 0x80000000u));
}

MO_CPU_INLINE float mo_cpu_tanh_f32(float x)
{
    float t = mo_cpu_abs_f32(x), s = x * x, p = -0x1.76ac1ap-8f;
    float e = mo_cpu_exp_down_f32(-2.0f * t), far = (1.0f - e) / (1.0f + e);

    p = p * s + 0x1.5256d8p-6f;
    p = p * s - 0x1.b84448p-5f;
    p = p * s + 0x1.110768p-3f;
    p = p * s - 0x1.555534p-2f;
    return t < 0.625f ? x + x * s * p : mo_cpu_copysign_f32(far, x);
}

/* asin of the square root of s from 0 to 1/4, divided by that root. */
MO_CPU_INLINE float mo_cpu_asin_quotient_f32(float s)
{
    float p = 0x1.59dacp-5f;

    p = p * s + 0x1.8ba262p-6f;
    p = p * s + 0x1.748c64p-5f;
    p = p * s + 0x1.33014ep-4f;
    p = p * s + 0x1.5555cap-3f;
    return p * s;
}

/* Beyond 1/2, acos(t) is 2 asin(sqrt((1 - t) / 2)). The last terms are what pi,
 * rounded, lacks. */
MO_CPU_INLINE float mo_cpu_asin_f32(float x)
{
    float t = mo_cpu_abs_f32(x), half = 0.5f * (1.0f - t);
    float s = t > 0.5f ? half : t * t, r = t > 0.5f ? sqrtf(half) : t;
    float more = r * mo_cpu_asin_quotient_f32(s);
    float far = (0x1.921fb6p0f - 2.0f * r) - (2.0f * more + 0x1.777a5cp-25f);

    return mo_cpu_copysign_f32(t > 0.5f ? far : r + more, x);
}

MO_CPU_INLINE float mo_cpu_acos_f32(float x)
{
    float t = mo_cpu_abs_f32(x), half = 0.5f * (1.0f - t);
    float s = t > 0.5f ? half : t * t, r = t > 0.5f ? sqrtf(half) : x;
    float more = r * mo_cpu_asin_quotient_f32(s);
    float near = 0x1.921fb6p0f - (r + (more + 0x1.777a5cp-25f));
    float far = 2.0f * (r + more);
    float left = 0x1.921fb6p1f - 2.0f * (r + (more + 0x1.777a5cp-25f));

    return t <= 0.5f ? near : x < 0.0f ? left : far;
}

/* Reduced by an eighth or a quarter of a turn to at most tan(pi / 8). */
MO_CPU_INLINE float mo_cpu_atan_f32(float x)
{
    float t = mo_cpu_abs_f32(x), p = -0x1.f25b42p-5f;
    bool far = t > 0x1.3504f4p1f, middle = t > 0x1.a8279ap-2f;
    float u = far ? -1.0f / t : middle ? (t - 1.0f) / (t + 1.0f) : t;
    float s = u * u, turn = far ? 0x1.921fb6p0f : middle ? 0x1.921fb6p-1f : 0;
    float rest = far ? 0x1.777a5cp-25f : middle ? 0x1.777a5cp-26f : 0;

    p = p * s + 0x1.b2032p-4f;
    p = p * s - 0x1.23b6cap-3f;
    p = p * s + 0x1.9991aep-3f;
    p = p * s - 0x1.55554ap-2f;
    return mo_cpu_copysign_f32(turn + (u + (u * s * p - rest)), x);
}

MO_CPU_INLINE float mo_cpu_sigmoid_f32(float x)
{
    float e = mo_cpu_exp_down_f32(-mo_cpu_abs_f32(x));

    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* 1 - erf(t) for t >= 0, right in proportion also where it is tiny:
 * w e^(P(w) - t^2) with w = 1 / (1 + 0.4 t). */
MO_CPU_INLINE float mo_cpu_erfc_f32(float t)
{
    float near = t > 12.0f ? 12.0f : t;
    float w = 1.0f / (1.0f + 0.4f * near), s = w * w, q = s * s;
    float p = (0x1.006da2p0f * w - 0x1.7d1c16p0f) +
              s * (0x1.32e4d4p-2f * w + 0x1.998f3ap-2f);
    float high = (0x1.fea438p-1f * w - 0x1.c4a1cep-2f) +
                 s * (0x1.d91e72p-1f * w - 0x1.7c0fe2p0f);

    p = p + q * (high - q * 0x1.a8bc92p-3f);
    return w * mo_cpu_exp_down_f32(p - near * near);
}

/* Far from 0 it is 1 - e^P(t), where erfc(t) need not be right in proportion;
 * from 3.93 on it is 1. */
MO_CPU_INLINE float mo_cpu_erf_f32(float x)
{
    float t = mo_cpu_abs_f32(x), s = x * x, p = -0x1.3f4f6ep-11f;
    float u = t > 3.93f ? 3.93f : t, v = u * u, far;
    float low = (-0x1.20b432p0f * u - 0x1.743c6cp-13f) +
                v * (-0x1.aa2312p-4f * u - 0x1.462cb2p-1f);
    float high = (-0x1.908122p-9f * u + 0x1.6cfcdcp-6f) + v * 0x1.9d8510p-13f;
    uint32_t k;

    far = mo_cpu_exp_reduce_f32(low + v * v * high, &k) + 1.0f;
    far = 1.0f - far * mo_cpu_exp2i_f32(k);
    p = p * s + 0x1.4876c8p-8f;
    p = p * s - 0x1.b6bee2p-6f;
    p = p * s + 0x1.ce1dd2p-4f;
    p = p * s - 0x1.8126fap-2f;
    p = p * s + 0x1.06eba6p-3f;
    return t < 0.9f ? x + x * p : mo_cpu_copysign_f32(far, x);
}

/* x times half of erfc(-x / sqrt 2): no cancellation on either side. */
MO_CPU_INLINE float mo_cpu_gelu_f32(float x)
{
    float tail = 0.5f * mo_cpu_erfc_f32(0x1.6a09e6p-1f * mo_cpu_abs_f32(x));

    return x * (x < 0.0f ? tail : 1.0f - tail);
}

/* The same as x sigmoid(2 u), u the argument of tanh. */
MO_CPU_INLINE float mo_cpu_gelu_tanh_f32(float x)
{
    float u = 0x1.988454p-1f * (x + 0.044715f * x * x * x);

    return x * mo_cpu_sigmoid_f32(2.0f * u);
}

MO_CPU_INLINE float mo_cpu_softplus_f32(float x)
{
    return (x > 0.0f ? x : 0.0f) +
           mo_cpu_log1p_f32(mo_cpu_exp_down_f32(-mo_cpu_abs_f32(x)));
}

/* tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2). */
MO_CPU_INLINE float mo_cpu_mish_f32(float x)
{
    float e = mo_cpu_exp_f32(x > 20.0f ? 20.0f : x), n = e * (e + 2.0f);

    return x * (n / (n + 2.0f));
}

#endif
