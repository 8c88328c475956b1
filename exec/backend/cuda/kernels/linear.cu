/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in a storage format (exec/tensor/block_format.h), which are read as
 * they are, sixteen at a time.  In a product a warp multiplies a row of weights
 * with AT_ONCE rows of data. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
#define BITS 8
typedef unsigned short W;
#define WEIGHT (float)
#define ROWS 3LL
#define COLUMNS 100LL
#define DEPTH 64LL
#define STRIDE 34LL
#define AT_ONCE 3
#define BLOCK 128
/* example:end */
/* embed: common_source */
#define PART 16
#if BITS
MO_DEVICE float half_at(const W *at)
{
    mo_f16 h;
    h.bits = *at;
    return mo_f16_load(h);
}
/* A block has a scale and 32 weights; part i of a row, where weight j of it is
 * in the row, and their values.  Four bits: a byte has weights 16 apart. */
MO_DEVICE int place_of(int part, int j)
{
    return BITS == 8 ? part * PART + j
                     : part / 2 * 32 + part % 2 * 8 + j % 8 + j / 8 * 16;
}
MO_DEVICE void load_weights(const W *row, int part, float *w)
{
    const W *block = row + part / 2 * (1 + 2 * BITS);
    const float scale = half_at(block);
#pragma unroll
    for (int i = 0; i < BITS; i++) {
        const unsigned two = block[1 + part % 2 * BITS + i];
        if (BITS == 8) {
            w[2 * i] = scale * (float) (signed char) (two & 255u);
            w[2 * i + 1] = scale * (float) (signed char) (two >> 8);
        } else {
            w[2 * i] = scale * (float) ((int) (two & 15u) - 8);
            w[2 * i + 1] = scale * (float) ((int) (two >> 8 & 15u) - 8);
            w[2 * i + 8] = scale * (float) ((int) (two >> 4 & 15u) - 8);
            w[2 * i + 9] = scale * (float) ((int) (two >> 12) - 8);
        }
    }
}
#define INSIDE(place) 1
#else
#define INSIDE(place) ((place) < (int) DEPTH)
MO_DEVICE int place_of(int part, int j) { return part * PART + j; }
MO_DEVICE void load_weights(const W *row, int part, float *w)
{
#pragma unroll
    for (int j = 0; j < PART; j++)
        w[j] = INSIDE(part * PART + j) ? WEIGHT(row[part * PART + j]) : 0;
}
#endif
/* embed: product_source */
MO_KERNEL_OF(linear, BLOCK)(const T *in, const W *weights, T *out,
                            struct mo_extra p)
{
    const long long n = (long long) blockIdx.x * (BLOCK / 32) + MO_WARP;
    const long long m = (long long) blockIdx.y * AT_ONCE;
    const W *row = weights + (n < COLUMNS ? n : 0) * STRIDE;
    R sum[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        sum[i] = 0;
    MO_BEGIN();
#pragma unroll 4
    for (int part = MO_LANE; part < (int) ((DEPTH + PART - 1) / PART);
         part += 32) {
        float w[PART];
        load_weights(row, part, w);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const T *x = in + (m + i < ROWS ? m + i : 0) * DEPTH;
#pragma unroll
            for (int j = 0; j < PART; j++) {
                const int at = place_of(part, j);
                if (INSIDE(at))
                    sum[i] += w[j] * load(x[at]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        const R v = mo_warp_sum_f(sum[i]);
        if (MO_LANE == 0 && n < COLUMNS && m + i < ROWS)
            finish1((PLACE) ((m + i) * COLUMNS + n), &v, p, out);
    }
}
/* embed: values_source */
MO_KERNEL_OF(dequantize, BLOCK)(const W *in, T *out, struct mo_extra p)
{
    const int part = (int) blockIdx.x * BLOCK + (int) threadIdx.x;
    float w[PART];
    MO_BEGIN();
    if (part >= (int) (DEPTH / PART))
        return;
    load_weights(in, part, w);
#pragma unroll
    for (int j = 0; j < PART; j += WIDTH)
        finish((PLACE) place_of(part, j), w + j, p, out);
}
