/* SPDX-License-Identifier: Apache-2.0 */
/* Prelude, part 3: cached loads and stores, warp shuffles, reductions over a
 * warp and a block. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/prelude_half.cuh"
/* example:end */
MO_DEVICE unsigned mo_shfl_u(unsigned x, int lane)
{
#ifdef MO_ON_CPU
    return mo_cpu_shuffle(x, lane & 31);
#else
    return __shfl_sync(0xffffffffu, x, lane);
#endif
}
MO_DEVICE unsigned mo_shfl_xor_u(unsigned x, int mask)
{
#ifdef MO_ON_CPU
    return mo_cpu_shuffle(x, MO_LANE ^ mask);
#else
    return __shfl_xor_sync(0xffffffffu, x, mask);
#endif
}
MO_DEVICE unsigned mo_shfl_down_u(unsigned x, int by)
{
#ifdef MO_ON_CPU
    return mo_cpu_shuffle(x, MO_LANE + by < 32 ? MO_LANE + by : MO_LANE);
#else
    return __shfl_down_sync(0xffffffffu, x, by);
#endif
}
MO_DEVICE unsigned mo_shfl_up_u(unsigned x, int by)
{
#ifdef MO_ON_CPU
    return mo_cpu_shuffle(x, MO_LANE >= by ? MO_LANE - by : MO_LANE);
#else
    return __shfl_up_sync(0xffffffffu, x, by);
#endif
}
MO_DEVICE unsigned mo_ballot(int x)
{
#ifdef MO_ON_CPU
    return mo_cpu_ballot(x);
#else
    return __ballot_sync(0xffffffffu, x);
#endif
}
#define MO_SHUFFLES(way) \
    MO_DEVICE int way##_i(int x, int at) \
    { \
        return (int) way##_u((unsigned) x, at); \
    } \
    MO_DEVICE float way##_f(float x, int at) \
    { \
        return mo_float_of(way##_u(mo_bits_of(x), at)); \
    } \
    MO_DEVICE long long way##_l(long long x, int at) \
    { \
        unsigned low = way##_u((unsigned) x, at); \
        unsigned high = \
            way##_u((unsigned) ((unsigned long long) x >> 32), at); \
        return (long long) ((unsigned long long) high << 32 | low); \
    } \
    MO_DEVICE double way##_d(double x, int at) \
    { \
        return mo_double_of((unsigned long long) way##_l( \
            (long long) mo_bits_of_double(x), at)); \
    }
MO_SHUFFLES(mo_shfl)
MO_SHUFFLES(mo_shfl_xor)
MO_SHUFFLES(mo_shfl_down)
MO_SHUFFLES(mo_shfl_up)

MO_DEVICE int mo_min_i(int a, int b) { return a < b ? a : b; }
MO_DEVICE int mo_max_i(int a, int b) { return a > b ? a : b; }
MO_DEVICE long long mo_min_l(long long a, long long b)
{
    return a < b ? a : b;
}
MO_DEVICE long long mo_max_l(long long a, long long b)
{
    return a > b ? a : b;
}
MO_DEVICE float mo_add_f(float a, float b) { return a + b; }
MO_DEVICE double mo_add_d(double a, double b) { return a + b; }
MO_DEVICE long long mo_add_l(long long a, long long b)
{
    return (long long) ((unsigned long long) a + (unsigned long long) b);
}
#define MO_REDUCTION(name, type, letter, join, none) \
    MO_DEVICE type mo_warp_##name(type x) \
    { \
        for (int m = 16; m; m >>= 1) \
            x = join(x, mo_shfl_xor_##letter(x, m)); \
        return x; \
    } \
    MO_DEVICE type mo_block_##name(type x, type *scratch) \
    { \
        int warps = (int) (blockDim.x + 31u) >> 5; \
        x = mo_warp_##name(x); \
        MO_SYNC(); \
        if (MO_LANE == 0) \
            scratch[MO_WARP] = x; \
        MO_SYNC(); \
        return mo_warp_##name(MO_LANE < warps ? scratch[MO_LANE] : (none)); \
    }
MO_REDUCTION(sum_f, float, f, mo_add_f, 0.0f)
MO_REDUCTION(max_f, float, f, fmaxf, -MO_INF)
MO_REDUCTION(min_f, float, f, fminf, MO_INF)
MO_REDUCTION(sum_d, double, d, mo_add_d, 0.0)
MO_REDUCTION(max_d, double, d, fmax, -MO_INF_D)
MO_REDUCTION(min_d, double, d, fmin, MO_INF_D)
MO_REDUCTION(sum_l, long long, l, mo_add_l, 0)
MO_REDUCTION(max_l, long long, l, mo_max_l, -0x7fffffffffffffffll - 1)
MO_REDUCTION(min_l, long long, l, mo_min_l, 0x7fffffffffffffffll)
