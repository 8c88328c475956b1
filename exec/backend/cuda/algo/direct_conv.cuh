/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of an implicit GEMM (direct_tiled_gemm.cu) for a convolution: row m is a
 * place of the result, column n a channel of a group, and k runs over the taps
 * of a window and the input channels, in the order in which these lie.
 * Transposed, a place reads the elements with windows that cover it: places at
 * the same phase of the strides read the same taps, and only those are rows and
 * steps of one product. */
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
#define PHASES0 ((PLACE) 1)
#define PHASES1 ((PLACE) 1)
#define PHASES2 ((PLACE) 1)
#define INVERSE0 ((PLACE) 1)
#define INVERSE1 ((PLACE) 1)
#define INVERSE2 ((PLACE) 1)
/* example:end */
/* embed: conv_source */
#define PHASES (PHASES0 * PHASES1 * PHASES2)
#define IMAGE (z / PHASES / GROUPS)
#define GROUP (z / PHASES % GROUPS)
#define PHASE0 (z / (PHASES1 * PHASES2) % PHASES0)
#define PHASE1 (z / PHASES2 % PHASES1)
#define PHASE2 (z % PHASES2)
/* Places and taps of a phase. */
#define M1 ((O1 + PHASES1 - 1) / PHASES1)
#define M2 ((O2 + PHASES2 - 1) / PHASES2)
#define T0 ((K0 + PHASES0 - 1) / PHASES0)
#define T1 ((K1 + PHASES1 - 1) / PHASES1)
#define T2 ((K2 + PHASES2 - 1) / PHASES2)
#define TAP(k) (LAST ? (k) / IN_GROUP : (k) % (T0 * T1 * T2))
#define CHANNEL(k) (LAST ? (k) % IN_GROUP : (k) / (T0 * T1 * T2))
/* Tap t of a phase. */
MO_DEVICE PLACE tap_of(PLACE t, PLACE phase, PLACE phases, PLACE inverse,
                       PLACE pad)
{
    return ((phase + pad) % phases + phases) * inverse % phases + t * phases;
}
#define TAP0(t) tap_of((t) / (T1 * T2), PHASE0, PHASES0, INVERSE0, P0)
#define TAP1(t) tap_of((t) / T2 % T1, PHASE1, PHASES1, INVERSE1, P1)
#define TAP2(t) tap_of((t) % T2, PHASE2, PHASES2, INVERSE2, P2)
/* Place m of a phase; it may be behind the end. */
#define PLACE0(m) (PHASE0 + (m) / (M1 * M2) * PHASES0)
#define PLACE1(m) (PHASE1 + (m) / M2 % M1 * PHASES1)
#define PLACE2(m) (PHASE2 + (m) % M2 * PHASES2)
/* Input index of the window at o for tap k, or -1. */
MO_DEVICE PLACE seen(PLACE o, PLACE k, PLACE taps, PLACE in, PLACE stride,
                     PLACE dilation, PLACE pad)
{
    PLACE i = o * stride - pad + k * dilation;
#if TRANSPOSED
    i = o + pad - k * dilation;
    if (k >= taps || i < 0 || i % stride != 0)
        return -1;
    i /= stride;
#endif
    return i >= 0 && i < in ? i : -1;
}
MO_DEVICE A left(const T *a, PLACE z, PLACE m, PLACE k)
{
    const PLACE t = TAP(k), c = GROUP * IN_GROUP + CHANNEL(k);
    const PLACE i0 = seen(PLACE0(m), TAP0(t), K0, I0, S0, D0, P0);
    const PLACE i1 = seen(PLACE1(m), TAP1(t), K1, I1, S1, D1, P1);
    const PLACE i2 = seen(PLACE2(m), TAP2(t), K2, I2, S2, D2, P2);
    const PLACE at = (i0 * I1 + i1) * I2 + i2;
    if (i0 < 0 || i1 < 0 || i2 < 0)
        return 0;
    return load(a[LAST ? (IMAGE * I + at) * IN_CHANNELS + c
                       : (IMAGE * IN_CHANNELS + c) * I + at]);
}
MO_DEVICE A right(const T *b, PLACE z, PLACE k, PLACE n)
{
    const PLACE t0 = TAP0(TAP(k)), t1 = TAP1(TAP(k)), t2 = TAP2(TAP(k));
    const PLACE t = (t0 * K1 + t1) * K2 + t2, c = CHANNEL(k);
#if TRANSPOSED
    const PLACE from = GROUP * IN_GROUP + c;
    if (t0 >= K0 || t1 >= K1 || t2 >= K2)
        return 0;
    return load(b[PACKED ? (from * TAPS + t) * OUT_GROUP + n
                         : (from * OUT_GROUP + n) * TAPS + t]);
#else
    const PLACE own = GROUP * OUT_GROUP + n;
    return load(b[PACKED ? (own * TAPS + t) * IN_GROUP + c
                         : (own * IN_GROUP + c) * TAPS + t]);
#endif
}
/* Returns -1 for a place behind the end. */
MO_DEVICE PLACE to(PLACE z, PLACE m, PLACE n)
{
    const PLACE c = GROUP * OUT_GROUP + n;
    const PLACE o0 = PLACE0(m), o1 = PLACE1(m), o2 = PLACE2(m);
    const PLACE at = TRANSPOSED ? (o0 * O1 + o1) * O2 + o2 : m;
    if (TRANSPOSED && (o0 >= O0 || o1 >= O1 || o2 >= O2))
        return -1;
    return LAST ? (IMAGE * O + at) * OUT_CHANNELS + c
                : (IMAGE * OUT_CHANNELS + c) * O + at;
}
