/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolution, channels last.  A thread computes WIDTH channels of ALONG
 * neighbouring places of a row: it loads the union of their windows once per
 * window row.  Weights lie as [tap][channel] where PACKED. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
#define CHANNELS ((PLACE) 128)
#define ALONG 4
#define ITEMS 25088LL
#define PACKED 1
#define BLOCK 128
#define LONG_ROWS 0
#define UNROLL _Pragma("unroll")
/* example:end */
/* embed: kernel_source */
#define SEEN ((ALONG - 1) * (int) S2 + ((int) K2 - 1) * (int) D2 + 1)
#define STRIPES ((O2 + ALONG - 1) / ALONG)
#define VECTORS (CHANNELS / WIDTH)
MO_DEVICE void read(const T *from, R *to)
{
    const WIDE w = read_wide(from);
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        to[i] = load(w.x[i]);
}
MO_DEVICE void weigh(const T *weights, PLACE c, PLACE tap, R *to)
{
#if PACKED
    read(weights + tap * CHANNELS + c, to);
#else
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        to[i] = load(weights[(c + i) * TAPS + tap]);
#endif
}
/* One row of the window; x is the column of its first element. */
#if !LONG_ROWS
MO_DEVICE void add_row(const T *row, const T *weights, PLACE x, PLACE c,
                       PLACE tap, R sums[ALONG][WIDTH])
{
    R seen[SEEN][WIDTH], w[WIDTH];
#pragma unroll
    for (int j = 0; j < SEEN; j++) {
        const int inside = x + j >= 0 && x + j < I2;
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            seen[j][i] = 0;
        if (inside)
            read(row + (x + j) * CHANNELS, seen[j]);
    }
#pragma unroll
    for (int k = 0; k < (int) K2; k++) {
        weigh(weights, c, tap + k, w);
#pragma unroll
        for (int q = 0; q < ALONG; q++)
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                sums[q][i] +=
                    seen[q * (int) S2 + k * (int) D2][i] * w[i];
    }
}
/* The same for rows too long for registers. */
#else
MO_DEVICE void add_row(const T *row, const T *weights, PLACE x, PLACE c,
                       PLACE tap, R sums[ALONG][WIDTH])
{
    R seen[WIDTH], w[WIDTH];
    for (PLACE k = 0; k < K2; k++) {
        const PLACE at = x + k * D2;
        if (at < 0 || at >= I2)
            continue;
        read(row + at * CHANNELS, seen);
        weigh(weights, c, tap + k, w);
        for (int i = 0; i < WIDTH; i++)
            sums[0][i] += seen[i] * w[i];
    }
}
#endif
MO_KERNEL_OF(direct, BLOCK)(const T *in, const T *weights, T *out, struct mo_extra p)
{
    const PLACE self = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;
    const PLACE c = self % VECTORS * WIDTH;
    const PLACE o2 = self / VECTORS % STRIPES * ALONG;
    const PLACE line = self / VECTORS / STRIPES;
    const PLACE o1 = line % O1, o0 = line / O1 % O0;
    const PLACE image = line / O1 / O0;
    R sums[ALONG][WIDTH];
    MO_BEGIN();
    if (self >= (PLACE) ITEMS)
        return;
#pragma unroll
    for (int q = 0; q < ALONG; q++)
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            sums[q][i] = 0;
    for (PLACE k0 = 0; k0 < K0; k0++)
        UNROLL for (PLACE k1 = 0; k1 < K1; k1++) {
            const PLACE i0 = o0 * S0 - P0 + k0 * D0;
            const PLACE i1 = o1 * S1 - P1 + k1 * D1;
            const T *row =
                in + ((image * I0 + i0) * I1 + i1) * I2 * CHANNELS + c;
            if (i0 >= 0 && i0 < I0 && i1 >= 0 && i1 < I1)
                add_row(row, weights, o2 * S2 - P2, c,
                        (k0 * K1 + k1) * K2, sums);
        }
#pragma unroll
    for (int q = 0; q < ALONG; q++)
        if (o2 + q < O2)
            finish((line * O2 + o2 + q) * CHANNELS + c, sums[q], p, out);
}
