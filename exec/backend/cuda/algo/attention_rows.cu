/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention without tensor cores: a warp per query, a lane per key, 32 keys at
 * a time with an online softmax, and PIECE columns of the result; further
 * columns are computed by other warps, which compute the same weights again.
 */
/* example:begin */
#include "exec/backend/cuda/algo/attention_example.cuh"
#define HELD 4
#define PIECES 1
typedef T KV;
#define LOAD_KV load
/* example:end */
#define PIECE (32 * HELD)
MO_KERNEL_OF(attention, THREADS)
(const T *q, const KV *k, const KV *v, T *out, struct shown shown,
 struct mo_extra extra)
{
    long long item = (long long) blockIdx.x * (THREADS / 32) + MO_WARP;
    int i = (int) (item % QUERIES), lane = MO_LANE;
    int column = (int) (item / QUERIES % PIECES) * PIECE + lane;
    long long batch = item / QUERIES / PIECES;
    int end = CAUSAL ? mo_min_i(KEYS, i + 1) : KEYS;
    float sum[HELD], most = -MO_INF, weight = 0;
    head h;
    MO_BEGIN();
    if (batch >= BATCHES)
        return;
    h = head_of((int) batch, shown);
    q += h.q + (PLACE) i * Q_ROW;
    k += h.k;
    v += h.v;
#pragma unroll
    for (int e = 0; e < HELD; e++)
        sum[e] = 0;
    for (int key = 0; key < end; key += 32) {
        int j = key + lane;
        float x = -MO_INF, larger, base, shrink;
        if (j < end) {
            const KV *row = k + (PLACE) j * K_ROW;
            x = 0;
            for (int d = 0; d < DEPTH; d++)
                x += load(q[d]) * LOAD_KV(row[d]);
            x = score(see(h, i, j), x);
        }
        larger = fmaxf(most, mo_warp_max_f(x));
        base = larger == -MO_INF ? 0 : larger;
        shrink = mo_exp(most - base);
        most = larger;
        x = mo_exp(x - base);
        weight = weight * shrink + x;
#pragma unroll
        for (int e = 0; e < HELD; e++)
            sum[e] *= shrink;
        for (int l = 0; l < 32 && key + l < end; l++) {
            const KV *row = v + (PLACE) (key + l) * V_ROW;
            float p = mo_shfl_f(x, l);
#pragma unroll
            for (int e = 0; e < HELD; e++)
                if (column + 32 * e < COLUMNS)
                    sum[e] += p * LOAD_KV(row[column + 32 * e]);
        }
    }
    weight = mo_warp_sum_f(weight);
#pragma unroll
    for (int e = 0; e < HELD; e++) {
        float x = sum[e] / weight;
        if (most == -MO_INF)
            x = ZERO_IF_MASKED ? 0 : MO_NAN;
        if (column + 32 * e < COLUMNS)
            finish1(h.out + (PLACE) i * OUT_ROW + column + 32 * e, &x, extra,
                    out);
    }
}
