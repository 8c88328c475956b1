/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few rows of data with weights in a storage format
 * (exec/tensor/block_format.h), at the bandwidth of memory.  A warp has SPAN
 * neighbouring rows of weights, which it reads once: quantized ones through a
 * ring of STAGES units of shared memory, others into registers.  A unit is 32
 * pairs of blocks, or fewer at the end of a row.  Weights are constants: they
 * are read before the kernel before this one has ended. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
#define BITS 8
typedef unsigned W;
#define WEIGHT (float)
#define ROWS 1
#define COLUMNS 4096
#define DEPTH 4096
#define SPAN 2
#define STAGES 4
#define COPY 16
#define WARPS 8
#define SPLIT 2
/* example:end */
/* embed: blocks_source */
/* A pair of blocks are WORDS words.  That of data has the same layout, with
 * zeros where weights have their scales: a product of words is a product of
 * numbers, however they lie.  Of four bits, bytes have the numbers i and i + 16
 * of a block, and data are two pairs of blocks, of the lower and the higher
 * half. */
#define WORDS (BITS == 8 ? 17 : 9)
#define SIDES (BITS == 8 ? 1 : 2)
#define PAIRS (DEPTH / 64)
#define UNITS ((PAIRS + 31) / 32)
#define UNIT_WORDS (32 * WORDS)
#define DATA_WORDS (PAIRS * WORDS * SIDES)

MO_DEVICE int dot4(unsigned a, unsigned b, int sum)
{
#ifdef MO_ON_CPU
    for (int i = 0; i < 32; i += 8)
        sum += (int) (signed char) (a >> i) * (int) (signed char) (b >> i);
    return sum;
#else
    return __dp4a((int) a, (int) b, sum);
#endif
}
MO_DEVICE float half_of(unsigned bits)
{
    mo_f16 h;
    h.bits = (unsigned short) bits;
    return mo_f16_load(h);
}
/* scales: of a block of data, and 8 times the sum of its numbers. Four threads
 * share a block. */
MO_DEVICE void quantize(const T *in, unsigned char *data, float2 *scales)
{
    const int end = ROWS * DEPTH / 8;
    /* Whole warps, since threads exchange numbers. */
    for (int n = (int) threadIdx.x; n - MO_LANE < end; n += 32 * WARPS) {
        const int i = mo_min_i(n, end - 1);
        const int b = i / 4, part = i % 4, block = b % (DEPTH / 32);
        unsigned char *to = data + (b / (DEPTH / 32)) * 4 * DATA_WORDS +
                            block / 2 * 4 * WORDS +
                            block % 2 * (4 * WORDS / 2);
        float x[8], most = 0, factor;
        int sum = 0;
#pragma unroll
        for (int j = 0; j < 8; j += WIDTH) {
            const WIDE some = read_wide(in + (long long) i * 8 + j);
#pragma unroll
            for (int k = 0; k < WIDTH; k++) {
                x[j + k] = load(some.x[k]);
                most = fmaxf(most, fabsf(x[j + k]));
            }
        }
        most = fmaxf(most, mo_shfl_xor_f(most, 1));
        most = fmaxf(most, mo_shfl_xor_f(most, 2));
        factor = most > 7.888609e-31f ? 127 / most : 0;
        if (n < end && part < SIDES)
            *(unsigned short *) (to + part * 4 * PAIRS * WORDS) = 0;
        to += 2 + (BITS == 8 ? 8 * part
                             : part / 2 * 4 * PAIRS * WORDS + 8 * (part % 2));
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            const int q = (int) rintf(x[j] * factor);
            const int r = (int) rintf(x[j + 1] * factor);
            if (n < end)
                ((unsigned short *) to)[j / 2] =
                    (unsigned short) ((q & 255) | (r & 255) << 8);
            sum += q + r;
        }
        sum += mo_shfl_xor_i(sum, 1);
        sum += mo_shfl_xor_i(sum, 2);
        if (n < end && part == 0) {
            scales[b].x = mo_f16_load(mo_f16_store(most / 127));
            scales[b].y = 8 * (float) sum * scales[b].x;
        }
    }
}
/* Unit i of the rows of a warp, in the order of memory. */
MO_DEVICE void fetch(const W *rows, unsigned *ring, int unit)
{
    const int piece = unit % UNITS * UNIT_WORDS;
    const int words = mo_min_i(UNIT_WORDS, PAIRS * WORDS - piece);
    const unsigned *from =
        (const unsigned *) rows + (long long) (unit / UNITS) * PAIRS * WORDS +
        piece;
    unsigned *to = ring + unit % STAGES * UNIT_WORDS;
    for (int i = MO_LANE * (COPY / 4); i < words; i += 32 * (COPY / 4))
        if (COPY == 16)
            mo_cp_async16(to + i, from + i, 1);
        else
            mo_cp_async4(to + i, from + i, 1);
}
MO_DEVICE void multiply(const unsigned *w, const unsigned *data,
                        const float2 *scales, R *sum)
{
    const float first = half_of(w[0] & 0xffffu);
    const float second = half_of(w[WORDS / 2] >> 16);
#pragma unroll
    for (int m = 0; m < ROWS; m++) {
        const unsigned *x = data + m * DATA_WORDS;
        const float2 *s = scales + m * (DEPTH / 32);
        int a = 0, b = 0;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            /* The word between has the end of the first block. */
            int *to = i <= WORDS / 2 ? &a : &b;
            if (BITS == 8)
                *to = dot4(w[i], x[i], *to);
            else {
                *to = dot4(w[i] & 0x0f0f0f0fu, x[i], *to);
                *to = dot4(w[i] >> 4 & 0x0f0f0f0fu, x[PAIRS * WORDS + i], *to);
            }
        }
        sum[m] += first * (s[0].x * (float) a - (BITS == 8 ? 0 : s[0].y));
        sum[m] += second * (s[1].x * (float) b - (BITS == 8 ? 0 : s[1].y));
    }
}
MO_KERNEL_OF(matvec_blocks, 32 * WARPS)(const T *in, const W *weights, T *out,
                                        struct mo_extra p)
{
    MO_DYNAMIC_SHARED(unsigned, shared);
    unsigned *ring = shared + MO_WARP * STAGES * UNIT_WORDS;
    unsigned *data = shared + WARPS * STAGES * UNIT_WORDS;
    float2 *scales = (float2 *) (data + (ROWS * DATA_WORDS + 3) / 4 * 4);
    const int first = ((int) blockIdx.x * WARPS + MO_WARP) * SPAN;
    const int units = mo_max_i(0, mo_min_i(SPAN, COLUMNS - first)) * UNITS;
    const W *rows =
        weights + (long long) mo_min_i(first, COLUMNS - 1) * PAIRS * WORDS;
    R sum[ROWS], kept[ROWS];
#pragma unroll
    for (int m = 0; m < ROWS; m++)
        sum[m] = kept[m] = 0;
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < units)
            fetch(rows, ring, i);
        mo_cp_commit();
    }
    MO_BEGIN();
    quantize(in, (unsigned char *) data, scales);
    MO_SYNC();
    for (int i = 0; i < units; i++) {
        const int pair = i % UNITS * 32 + MO_LANE;
        mo_cp_wait(STAGES - 2);
        mo_sync_warp();
        if (i + STAGES - 1 < units)
            fetch(rows, ring, i + STAGES - 1);
        mo_cp_commit();
        if (pair < PAIRS)
            multiply(ring + i % STAGES * UNIT_WORDS + MO_LANE * WORDS,
                     data + pair * WORDS, scales + 2 * pair, sum);
        if (i % UNITS < UNITS - 1)
            continue;
#pragma unroll
        for (int m = 0; m < ROWS; m++) {
            const R all = mo_warp_sum_f(sum[m]);
            if (MO_LANE == i / UNITS)
                kept[m] = all;
            sum[m] = 0;
        }
    }
#pragma unroll
    for (int m = 0; m < ROWS; m++)
        if (MO_LANE < SPAN && first + MO_LANE < COLUMNS)
            finish1((PLACE) m * COLUMNS + first + MO_LANE, &kept[m], p, out);
}
/* embed: numbers_source */
/* Eight numbers, 16 bytes of weights or 32, and data as they are. SPLIT warps
 * share rows, in turns. */
#define EIGHTS (DEPTH / 8)
#define TURNS ((EIGHTS + 32 * SPLIT - 1) / (32 * SPLIT))
typedef union {
    uint4 bits[sizeof(W) / 2];
    W x[8];
} eight;

MO_DEVICE void fetch_eight(const W *row, int turn, eight *w)
{
    const int at = mo_min_i((turn * SPLIT + MO_WARP % SPLIT) * 32 + MO_LANE,
                            EIGHTS - 1);
    const uint4 *from = (const uint4 *) (row + at * 8);
#pragma unroll
    for (int i = 0; i < (int) (sizeof(W) / 2); i++)
        w->bits[i] = from[i];
}
MO_DEVICE void multiply_eight(const T *in, int turn, const eight *w, R *sum)
{
    const int at = (turn * SPLIT + MO_WARP % SPLIT) * 32 + MO_LANE;
#pragma unroll
    for (int m = 0; m < ROWS; m++)
#pragma unroll
        for (int j = 0; j < 8 && at < EIGHTS; j += WIDTH) {
            const WIDE x = read_wide(in + (long long) m * DEPTH + at * 8 + j);
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                sum[m] += WEIGHT(w->x[j + i]) * load(x.x[i]);
        }
}
MO_KERNEL_OF(matvec_numbers, 32 * WARPS)(const T *in, const W *weights, T *out,
                                         struct mo_extra p)
{
    MO_SHARED float parts[WARPS][ROWS][32];
    const int first =
        ((int) blockIdx.x * (WARPS / SPLIT) + MO_WARP / SPLIT) * SPAN;
    const int rows = mo_max_i(0, mo_min_i(SPAN, COLUMNS - first));
    const W *row =
        weights + (long long) mo_min_i(first, COLUMNS - 1) * DEPTH;
    eight w[STAGES];
    R sum[ROWS], kept[ROWS];
#pragma unroll
    for (int m = 0; m < ROWS; m++)
        sum[m] = kept[m] = 0;
#pragma unroll
    for (int i = 0; i < STAGES; i++)
        if (i < TURNS)
            fetch_eight(row, i, &w[i]);
    MO_BEGIN();
    for (int n = 0; n < rows; n++, row += DEPTH) {
        for (int turn = 0; turn < TURNS; turn += STAGES) {
#pragma unroll
            for (int i = 0; i < STAGES; i++) {
                const int next = turn + i + STAGES;
                if (turn + i < TURNS)
                    multiply_eight(in, turn + i, &w[i], sum);
                if (next < TURNS)
                    fetch_eight(row, next, &w[i]);
                else if (i < TURNS && n + 1 < rows)
                    fetch_eight(row + DEPTH, i, &w[i]);
            }
        }
#pragma unroll
        for (int m = 0; m < ROWS; m++) {
            const R all = mo_warp_sum_f(sum[m]);
            if (MO_LANE == n)
                kept[m] = all;
            sum[m] = 0;
        }
    }
    if (SPLIT > 1) {
#pragma unroll
        for (int m = 0; m < ROWS; m++)
            parts[MO_WARP][m][MO_LANE] = kept[m];
        MO_SYNC();
        if (MO_WARP % SPLIT > 0)
            return;
#pragma unroll
        for (int m = 0; m < ROWS; m++)
#pragma unroll
            for (int i = 1; i < SPLIT; i++)
                kept[m] += parts[MO_WARP + i][m][MO_LANE];
    }
#pragma unroll
    for (int m = 0; m < ROWS; m++)
        if (MO_LANE < SPAN && first + MO_LANE < COLUMNS)
            finish1((PLACE) m * COLUMNS + first + MO_LANE, &kept[m], p, out);
}
