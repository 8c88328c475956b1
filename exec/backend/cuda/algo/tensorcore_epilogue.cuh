/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogue of the tensor core GEMM: sums of all warps go through shared
 * memory, GROUPS tiles of them, and are finished in pieces of four neighbours
 * of a row, or one where rows are no multiples of four. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/algo/tensorcore_mma.cuh"
/* example:end */
#define PITCH (TN + 8)
#define PIECES (TM * TN / WIDTH)
#define PIECES_ROW (TN / WIDTH)
#define AT_ONCE 4
#if WIDTH == 4
typedef float4 piece;
#else
typedef float piece;
#endif
MO_DEVICE void put_sums(float *shared, const float *sum, int row, int column)
{
    row += MO_LANE >> 2;
    column += (MO_LANE & 3) * 2;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++) {
            const float *d = sum + (i * NI + j) * 4;
            float *to = shared + (row + i * 16) * PITCH + column + j * 8;
            float2 low = { d[0], d[1] }, high = { d[2], d[3] };
            *(float2 *) to = low;
            *(float2 *) (to + 8 * PITCH) = high;
        }
}
MO_DEVICE piece nothing(void)
{
#if WIDTH == 4
    float4 zero = { 0.0f, 0.0f, 0.0f, 0.0f };
    return zero;
#else
    return 0.0f;
#endif
}
MO_DEVICE piece sum_of(piece a, piece b)
{
#if WIDTH == 4
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.w += b.w;
    return a;
#else
    return a + b;
#endif
}
MO_DEVICE piece load_part(const float *from)
{
#if WIDTH == 4
    return mo_load_l2_f4(from);
#else
    return mo_load_l2_f(from);
#endif
}
MO_DEVICE void store_part(float *to, piece v)
{
#if WIDTH == 4
    mo_store_l2_f4(to, v);
#else
    *to = v;
#endif
}
MO_DEVICE const float *place_in(const float *shared, int at)
{
    return shared + at / PIECES_ROW * PITCH + at % PIECES_ROW * WIDTH;
}
MO_DEVICE piece own_sum(const float *shared, int at)
{
    const float *from = place_in(shared, at);
    piece v = nothing();
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        v = sum_of(v, *(const piece *) (from + g * TM * PITCH));
    return v;
}
/* Reduction of split-k: by all blocks of a cluster, each some of the rows,
 * through distributed shared memory; or in device memory by the last block to
 * arrive. Always in the same order. */
#if MO_HAS_CLUSTER
MO_DEVICE piece load_far(const float *from, int block)
{
#if WIDTH == 4
    return mo_cluster_load_f4(from, block);
#else
    return mo_cluster_load_f(from, block);
#endif
}
MO_DEVICE piece cluster_sum(const float *shared, int n_parts, int at)
{
    const float *from = place_in(shared, at);
    piece v = nothing();
    for (int part = 0; part < n_parts; part++)
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            v = sum_of(v, load_far(from + g * TM * PITCH, part));
    return v;
}
#endif
MO_DEVICE piece whole_sum(const struct arguments *p, const float *shared,
                          const float *parts, int at)
{
    piece v = nothing();
    if (p->n_parts == 1)
        return own_sum(shared, at);
#if MO_HAS_CLUSTER
    if (p->clustered)
        return cluster_sum(shared, p->n_parts, at);
#endif
    for (int part = 0; part < p->n_parts; part++)
        v = sum_of(v, load_part(parts + (part * PIECES + at) * WIDTH));
    return v;
}
MO_DEVICE int is_last(const struct arguments *p, const float *shared,
                      float *parts, unsigned *arrived)
{
    MO_SHARED unsigned before;
    float *own = parts + (int) blockIdx.z * PIECES * WIDTH;
    for (int at = (int) threadIdx.x; at < PIECES; at += THREADS)
        store_part(own + at * WIDTH, own_sum(shared, at));
    mo_fence();
    MO_SYNC();
    if (threadIdx.x == 0)
        before = mo_atomic_add(arrived, 1u);
    MO_SYNC();
    if (before != (unsigned) p->n_parts - 1u)
        return 0;
    if (threadIdx.x == 0)
        *arrived = 0u;
    mo_fence();
    return 1;
}
/* The bias of a thread's columns, loaded long before it is needed. */
MO_DEVICE WIDE bias_of(const struct arguments *p, int column, long long base)
{
    int n = column + (int) threadIdx.x % PIECES_ROW * WIDTH;
    WIDE bias = { 0 };
    if (p->bias && n < p->n)
        bias = *(const WIDE *) (p->bias + base + n);
    return bias;
}
/* Epilogue by a generated program; or bias, residual and activation as
 * arguments, with several loads of residuals in flight. */
#if PROGRAM
MO_DEVICE void finish_pieces(const struct arguments *p, const float *shared,
                             const float *parts, int row, int column,
                             long long base, WIDE bias, struct mo_extra extra,
                             int begin, int end)
{
    int n = column + (int) threadIdx.x % PIECES_ROW * WIDTH;
    for (int at = begin + (int) threadIdx.x; at < end; at += THREADS) {
        int m = row + at / PIECES_ROW;
        PLACE to = (PLACE) (base + (long long) m * p->c_pitch + n);
        if (n < p->n && m < p->m) {
            piece v = whole_sum(p, shared, parts, at);
            finish(to, (const float *) &v, extra, p->out);
        }
    }
}
#else
MO_DEVICE float acted(float x, const struct arguments *p)
{
    x = act(x);
    return x < p->low ? p->low : x > p->high ? p->high : x;
}
MO_DEVICE WIDE ended(const struct arguments *p, piece sum, WIDE bias,
                     WIDE residual)
{
    const float *v = (const float *) &sum;
    WIDE w;
#pragma unroll
    for (int j = 0; j < WIDTH; j++) {
        float x = v[j], r = p->residual ? load(residual.x[j]) : 0.0f;
        if (p->bias)
            x += load(bias.x[j]);
        x = p->residual_last ? acted(x, p) + r : acted(x + r, p);
        w.x[j] = stored(x);
    }
    return w;
}
MO_DEVICE void finish_pieces(const struct arguments *p, const float *shared,
                             const float *parts, int row, int column,
                             long long base, WIDE bias, struct mo_extra extra,
                             int begin, int end)
{
    int n = column + (int) threadIdx.x % PIECES_ROW * WIDTH;
    if (n >= p->n)
        return;
    for (int at = begin + (int) threadIdx.x; at < end;
         at += AT_ONCE * THREADS) {
        WIDE residual[AT_ONCE] = { 0 };
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            int m = row + (at + i * THREADS) / PIECES_ROW;
            if (p->residual && at + i * THREADS < end && m < p->m)
                residual[i] = *(const WIDE *) (p->residual + base +
                                               (long long) m * p->c_pitch + n);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            int m = row + (at + i * THREADS) / PIECES_ROW;
            if (at + i * THREADS < end && m < p->m)
                *(WIDE *) (p->out + base + (long long) m * p->c_pitch + n) =
                    ended(p, whole_sum(p, shared, parts, at + i * THREADS),
                          bias, residual[i]);
        }
    }
}
#endif
