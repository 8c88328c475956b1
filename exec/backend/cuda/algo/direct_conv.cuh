/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of an implicit GEMM (direct_tiled_gemm.cu) for a convolution: row m is a
 * place of the result, column n a channel of a group, and k runs over the taps
 * of a window and the input channels, in the order in which these lie.
 * Transposed, a place reads the elements with windows that cover it. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/example.cuh"
typedef float A;
#define LAST 1
#define TRANSPOSED 0
#define PACKED 1
#define GROUPS ((PLACE) 2)
#define IN_CHANNELS ((PLACE) 64)
#define OUT_CHANNELS ((PLACE) 64)
#define IN_GROUP (IN_CHANNELS / GROUPS)
#define OUT_GROUP (OUT_CHANNELS / GROUPS)
/* example:end */
/* embed: conv_source */
#define IMAGE (z / GROUPS)
#define GROUP (z % GROUPS)
#define TAP(k) (LAST ? (k) / IN_GROUP : (k) % TAPS)
#define CHANNEL(k) (LAST ? (k) % IN_GROUP : (k) / TAPS)
/* Input index of the window at o for tap k, or -1. */
MO_DEVICE PLACE seen(PLACE o, PLACE k, PLACE in, PLACE stride,
                     PLACE dilation, PLACE pad)
{
    PLACE i = o * stride - pad + k * dilation;
#if TRANSPOSED
    i = o + pad - k * dilation;
    if (i < 0 || i % stride != 0)
        return -1;
    i /= stride;
#endif
    return i >= 0 && i < in ? i : -1;
}
MO_DEVICE A left(const T *a, PLACE z, PLACE m, PLACE k)
{
    const PLACE t = TAP(k), c = GROUP * IN_GROUP + CHANNEL(k);
    const PLACE i0 = seen(m / (O1 * O2), t / (K1 * K2), I0, S0, D0, P0);
    const PLACE i1 = seen(m / O2 % O1, t / K2 % K1, I1, S1, D1, P1);
    const PLACE i2 = seen(m % O2, t % K2, I2, S2, D2, P2);
    const PLACE at = (i0 * I1 + i1) * I2 + i2;
    if (i0 < 0 || i1 < 0 || i2 < 0)
        return 0;
    return load(a[LAST ? (IMAGE * I + at) * IN_CHANNELS + c
                       : (IMAGE * IN_CHANNELS + c) * I + at]);
}
MO_DEVICE A right(const T *b, PLACE z, PLACE k, PLACE n)
{
    const PLACE t = TAP(k), c = CHANNEL(k);
    const PLACE own = GROUP * OUT_GROUP + n;
#if PACKED
    return load(b[(own * TAPS + t) * IN_GROUP + c]);
#elif TRANSPOSED
    return load(b[((GROUP * IN_GROUP + c) * OUT_GROUP + n) * TAPS + t]);
#else
    return load(b[(own * IN_GROUP + c) * TAPS + t]);
#endif
}
MO_DEVICE PLACE to(PLACE z, PLACE m, PLACE n)
{
    const PLACE c = GROUP * OUT_GROUP + n;
    return LAST ? (IMAGE * O + m) * OUT_CHANNELS + c
                : (IMAGE * OUT_CHANNELS + c) * O + m;
}
