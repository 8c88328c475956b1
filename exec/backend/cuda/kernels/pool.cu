/* SPDX-License-Identifier: Apache-2.0 */
/* Max and average pooling.  A thread computes WIDTH neighbouring elements, which
 * are channels of one place where channels lie last.  Small windows are loaded
 * whole before they are reduced; a larger one is shared by DEEP threads. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
#define CHANNELS ((PLACE) 64)
#define PLACES O
#define AVERAGE 1
#define ADAPTIVE 0
#define LAST 1
#define DEEP 2
#define BLOCK 64
#define ITEMS 50176LL
#define E0 ((PLACE) 1)
#define E1 ((PLACE) 57)
#define E2 ((PLACE) 57)
#define COUNT_DATA 0
#define COUNT_PADDED 1
#define INDICES 0
/* example:end */
/* embed: common_source */
typedef struct { PLACE first, count, step; } SPAN;
/* The part of a window that is inside of the input. */
MO_DEVICE SPAN span_of(PLACE o, PLACE in, PLACE out, PLACE kernel,
                       PLACE stride, PLACE step, PLACE pad)
{
    const PLACE begin = o * stride - pad;
    const PLACE skip = begin < 0 ? (-begin + step - 1) / step : 0;
    PLACE end = begin < in ? (in - begin + step - 1) / step : 0;
    SPAN s;
    end = end < kernel ? end : kernel;
    s.step = step;
    s.first = begin + skip * step;
    s.count = end > skip ? end - skip : 0;
#if ADAPTIVE
    s.first = (PLACE) ((long long) o * in / out);
    s.count = (PLACE) (((long long) (o + 1) * in + out - 1) / out) -
              s.first;
    s.step = 1;
#endif
    return s;
}
typedef struct { R v[WIDTH]; PLACE place; } BEST;
/* A NaN is the maximum, as of Maximum; the last has the place. */
MO_DEVICE void take(WIDE w, PLACE place, BEST *b)
{
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        const R x = load(w.x[i]);
        if (AVERAGE) {
            b->v[i] += x;
        } else if (x > b->v[i] || x != x || (INDICES && b->place < 0)) {
            b->v[i] = x;
            b->place = place;
        }
    }
}
#define READ(place) \
    read_wide(in + from + (place) * (LAST ? CHANNELS : 1))
/* example:begin */
namespace small_window {
/* example:end */
/* embed: small_source */
/* Loads all elements of a window first, so that the loads overlap. */
#define EACH_TAP \
    _Pragma("unroll") for (int k0 = 0; k0 < K0; k0++) \
    _Pragma("unroll") for (int k1 = 0; k1 < K1; k1++) \
    _Pragma("unroll") for (int k2 = 0; k2 < K2; k2++)
#define TAP ((k0 * K1 + k1) * K2 + k2)
MO_DEVICE void fold(const T *in, PLACE from, const PLACE *o,
                    const SPAN *s, int deep, BEST *b)
{
    const PLACE a0 = o[0] * S0 - P0, a1 = o[1] * S1 - P1;
    const PLACE a2 = o[2] * S2 - P2;
    WIDE w[TAPS];
    EACH_TAP {
        const PLACE i0 = a0 + k0 * D0, i1 = a1 + k1 * D1;
        const PLACE i2 = a2 + k2 * D2;
        if (i0 >= 0 && i0 < I0 && i1 >= 0 && i1 < I1 && i2 >= 0 &&
            i2 < I2)
            w[TAP] = READ((i0 * I1 + i1) * I2 + i2);
    }
    EACH_TAP {
        const PLACE i0 = a0 + k0 * D0, i1 = a1 + k1 * D1;
        const PLACE i2 = a2 + k2 * D2;
        if (i0 >= 0 && i0 < I0 && i1 >= 0 && i1 < I1 && i2 >= 0 &&
            i2 < I2)
            take(w[TAP], (i0 * I1 + i1) * I2 + i2, b);
    }
}
/* example:begin */
}
/* example:end */
/* embed: large_source */
MO_DEVICE void fold(const T *in, PLACE from, const PLACE *o,
                    const SPAN *s, int deep, BEST *b)
{
    const PLACE row = s[2].count, plane = s[1].count * row;
    const PLACE all = s[0].count * plane;
#pragma unroll 4
    for (PLACE i = deep; i < all; i += DEEP) {
        const PLACE i0 = s[0].first + i / plane * s[0].step;
        const PLACE i1 = s[1].first + i % plane / row * s[1].step;
        const PLACE i2 = s[2].first + i % row * s[2].step;
        const PLACE place = (i0 * I1 + i1) * I2 + i2;
        take(READ(place), place, b);
    }
}
/* embed: ending_source */
#define SIDE (BLOCK / DEEP)
/* Joins the partial results of DEEP threads, in their order. */
MO_DEVICE void join(BEST *b, int side, int deep)
{
    MO_SHARED R cells[DEEP][SIDE][WIDTH];
    for (int i = 0; i < WIDTH; i++)
        cells[deep][side][i] = b->v[i];
    MO_SYNC();
    for (int d = 1; d < DEEP; d++)
        for (int i = 0; i < WIDTH && deep == 0; i++) {
            const R x = cells[d][side][i];
            if (AVERAGE)
                b->v[i] += x;
            else if (x > b->v[i] || x != x)
                b->v[i] = x;
        }
}
/* Elements of a dimension that an average counts; end is the end of the
 * padding. */
MO_DEVICE PLACE counted(PLACE o, PLACE data, PLACE end, PLACE kernel,
                        PLACE stride, PLACE step, PLACE pad)
{
    const PLACE left = end - (o * stride - pad);
    const PLACE most = left > 0 ? (left + step - 1) / step : 0;
    if (COUNT_DATA)
        return data;
    return COUNT_PADDED && most < kernel ? most : kernel;
}
MO_DEVICE R share_of(const PLACE *o, const SPAN *s)
{
    const double count =
        (double) counted(o[0], s[0].count, E0, K0, S0, D0, P0) *
        (double) counted(o[1], s[1].count, E1, K1, S1, D1, P1) *
        (double) counted(o[2], s[2].count, E2, K2, S2, D2, P2);
    return count > 0 ? (R) (1 / count) : 0;
}
/* example:begin */
#if !INDICES
/* example:end */
/* embed: head */
MO_KERNEL_OF(pool, BLOCK)(const T *in, T *out, struct mo_extra p)
/* example:begin */
#else
typedef long long INDEX;
#define INDEX_SIZE ((PLACE) 3136)
/* example:end */
/* embed: head_with_indices */
MO_KERNEL_OF(pool, BLOCK)(const T *in, T *out, INDEX *where, struct mo_extra p)
/* example:begin */
#endif
/* example:end */
/* embed: body */
{
    const int side = (int) threadIdx.x % SIDE;
    const int deep = (int) threadIdx.x / SIDE;
    const PLACE self = (PLACE) blockIdx.x * SIDE + side;
    const int live = self < (PLACE) ITEMS;
    const PLACE e = (live ? self : 0) * WIDTH;
    const PLACE row = LAST ? e / CHANNELS : e % PLACES;
    const PLACE rest = LAST ? row / PLACES : e / PLACES;
    const PLACE image = LAST ? rest : rest / CHANNELS;
    const PLACE channel = LAST ? e % CHANNELS : rest % CHANNELS;
    const PLACE place = row % PLACES;
    const PLACE plain = (image * CHANNELS + channel) * I;
    const PLACE from =
        LAST ? image * I * CHANNELS + channel : plain;
    const PLACE o[3] = { place / (O1 * O2), place / O2 % O1, place % O2 };
    const SPAN s[3] = { span_of(o[0], I0, O0, K0, S0, D0, P0),
                        span_of(o[1], I1, O1, K1, S1, D1, P1),
                        span_of(o[2], I2, O2, K2, S2, D2, P2) };
    const int empty = !s[0].count || !s[1].count || !s[2].count;
    BEST b;
    MO_BEGIN();
    b.place = -1;
    for (int i = 0; i < WIDTH; i++)
        b.v[i] = AVERAGE ? 0 : empty ? -3.402823466e+38f : -MO_INF;
    fold(in, from, o, s, deep, &b);
    if (DEEP > 1)
        join(&b, side, deep);
    if (!live || deep > 0)
        return;
    for (int i = 0; i < WIDTH && AVERAGE; i++)
        b.v[i] *= share_of(o, s);
#if INDICES
    where[e] = (INDEX) ((plain + (b.place < 0 ? 0 : b.place)) %
                        INDEX_SIZE);
#endif
    finish(e, b.v, p, out);
}
