/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments of both tiles for 32 bytes of k, and their mma. A warp has WM x WN
 * elements of the result. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/algo/tensorcore_load.cuh"
/* example:end */
#define MI (WM / 16)
#define NI (WN / 8)
typedef struct fragments {
    unsigned a[MI * 4], b[NI * 2];
} fragments;
/* Tensor cores truncate floats to 11 bits, which makes sums too small. This
 * factor compensates on average, and keeps values of 11 bits. */
#if KIND == 0
MO_DEVICE unsigned balanced(unsigned bits)
{
    return mo_bits_of(mo_float_of(bits) * 1.00035f);
}
#endif
/* k-major tiles: one ldmatrix loads four pieces of 8 rows and 16 bytes. Of
 * mn-major ones, floats are loaded singly, halves by ldmatrix.trans. */
MO_DEVICE void take_a(unsigned *a, const elem *tile, int row, int slice)
{
    const int lane = MO_LANE;
#pragma unroll
    for (int i = 0; i < MI; i++) {
#if A_FORM != TURNED
        mo_ldmatrix_x4(a + 4 * i,
                       tile + place_of(row + i * 16 + (lane & 15),
                                       (slice * 2 + (lane >> 4)) * (TK / 8)));
#elif KIND <= 1
        const float *at = tile + (slice * 8 + (lane & 3)) * (TM + PAD) + row +
                          i * 16 + (lane >> 2);
        a[4 * i] = mo_bits_of(at[0]);
        a[4 * i + 1] = mo_bits_of(at[8]);
        a[4 * i + 2] = mo_bits_of(at[4 * (TM + PAD)]);
        a[4 * i + 3] = mo_bits_of(at[4 * (TM + PAD) + 8]);
#else
        mo_ldmatrix_turned_x4(
            a + 4 * i,
            tile + (slice * 16 + (lane & 7) + (lane >> 4) * 8) * (TM + PAD) +
                row + i * 16 + (lane >> 3 & 1) * 8);
#endif
    }
#if KIND == 0
#pragma unroll
    for (int i = 0; i < MI * 4; i++)
        a[i] = balanced(a[i]);
#endif
}
MO_DEVICE void take_b(unsigned *b, const elem *tile, int column, int slice)
{
    const int lane = MO_LANE;
#pragma unroll
    for (int i = 0; i < NI / 2; i++) {
#if B_FORM != TURNED
        mo_ldmatrix_x4(b + 4 * i,
                       tile + place_of(column + i * 16 + (lane & 7) +
                                           (lane >> 4) * 8,
                                       (slice * 2 + (lane >> 3 & 1)) *
                                           (TK / 8)));
#elif KIND <= 1
        const float *at = tile + (slice * 8 + (lane & 3)) * (TN + PAD) +
                          column + i * 16 + (lane >> 2);
        b[4 * i] = mo_bits_of(at[0]);
        b[4 * i + 1] = mo_bits_of(at[4 * (TN + PAD)]);
        b[4 * i + 2] = mo_bits_of(at[8]);
        b[4 * i + 3] = mo_bits_of(at[4 * (TN + PAD) + 8]);
#else
        mo_ldmatrix_turned_x4(
            b + 4 * i,
            tile + (slice * 16 + (lane & 15)) * (TN + PAD) + column + i * 16 +
                (lane >> 4) * 8);
#endif
    }
#if KIND == 0 && !B_ROUNDED
#pragma unroll
    for (int i = 0; i < NI * 2; i++)
        b[i] = balanced(b[i]);
#endif
}
/* 3xTF32: a float is what a tensor core keeps of it plus a remainder. Three
 * products; that of the remainders is left out. */
#if KIND == 1
MO_DEVICE void cut(const unsigned *x, unsigned *high, unsigned *low, int n)
{
#pragma unroll
    for (int i = 0; i < n; i++) {
        high[i] = x[i] & 0xffffe000u;
        low[i] = mo_bits_of(mo_float_of(x[i]) - mo_float_of(high[i]));
    }
}
#endif
MO_DEVICE void multiply(float *sum, const fragments *f)
{
#if KIND == 1
    unsigned a_high[MI * 4], a_low[MI * 4], b_high[NI * 2], b_low[NI * 2];
    cut(f->a, a_high, a_low, MI * 4);
    cut(f->b, b_high, b_low, NI * 2);
#endif
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++) {
            float *d = sum + (i * NI + j) * 4;
#if KIND == 0
            mo_mma_tf32_16x8x8(d, f->a + 4 * i, f->b + 2 * j);
#elif KIND == 1
            mo_mma_tf32_16x8x8(d, a_low + 4 * i, b_high + 2 * j);
            mo_mma_tf32_16x8x8(d, a_high + 4 * i, b_low + 2 * j);
            mo_mma_tf32_16x8x8(d, a_high + 4 * i, b_high + 2 * j);
#elif KIND == 2
            mo_mma_f16_16x8x16(d, f->a + 4 * i, f->b + 2 * j);
#else
            mo_mma_bf16_16x8x16(d, f->a + 4 * i, f->b + 2 * j);
#endif
        }
}
