/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the operands of the tensor core GEMM into shared memory. A row of
 * a k-major tile has 128 bytes; its 16-byte chunks are swizzled, so that no
 * two of eight rows share banks. An mn-major tile has a row for each k, padded
 * by eight elements for the same reason. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/example.cuh"
#define TM 64
#define TN 64
#define WM 32
#define WN 32
#define GROUPS 1
#define STAGES 3
#define THREADS 128
#define BLOCKS 2
#define ROWS 0
#define TURNED 1
#define WINDOWS 2
#define KIND 0
#define A_FORM WINDOWS
#define B_FORM ROWS
#define A_COUNT 4
#define B_COUNT 4
#define B_CONSTANT 1
#define B_ROUNDED 0
#define PROGRAM 0
MO_DEVICE float act(float v) { return v > 0 ? v : 0; }
MO_DEVICE T stored(float v) { return v; }
/* example:end */
#if KIND <= 1
typedef float elem;
#else
typedef unsigned short elem;
#endif
#define TK (128 / (int) sizeof(elem))
#define PAD 8
#define FETCHED 16
#define A_SIZE (A_FORM == TURNED ? TK * (TM + PAD) : TM * TK)
#define B_SIZE (B_FORM == TURNED ? TK * (TN + PAD) : TN * TK)
#define STAGE (A_SIZE + B_SIZE)
struct window {
    int in_h, in_w, out_h, out_w, kernel_h, kernel_w;
    int stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
    int channels;
};
struct arguments {
    const elem *a, *b;
    T *out;
    const T *bias, *residual;
    float *parts;
    unsigned *arrived;
    long long a_batch[3], b_batch[3], c_batch[3], bias_batch[3];
    int extent[3];
    int m, n, k;
    int a_pitch, b_pitch, c_pitch;
    int tiles_m;
    int n_parts, part_k;
    struct window window;
    int residual_last;
    int clustered;
    float low, high;
};
MO_DEVICE int place_of(int row, int column)
{
    int byte = column * (int) sizeof(elem);
    return (row * 128 + ((byte >> 4 ^ (row & 7)) << 4) + (byte & 15)) /
           (int) sizeof(elem);
}
MO_DEVICE void copy(elem *to, const elem *from, int valid, int count)
{
    if (count * sizeof(elem) == 16)
        mo_cp_async16(to, from, valid);
    else if (count * sizeof(elem) == 8)
        mo_cp_async8(to, from, valid);
    else if (count * sizeof(elem) == 4)
        mo_cp_async4(to, from, valid);
    else
        *to = valid ? *from : (elem) 0;
}
MO_DEVICE void copy_rows(elem *tile, const elem *from, int pitch, int first,
                         int limit, int k, int end, int rows, int count)
{
    const int columns = TK / count, step = THREADS / columns;
    int column = (int) threadIdx.x % columns * count;
    int row = (int) threadIdx.x / columns;
    int inside = k + column < end;
#pragma unroll
    for (int i = 0; i < (rows + step - 1) / step; i++) {
        int r = row + i * step;
        if (rows % step == 0 || r < rows)
            copy(tile + place_of(r, column),
                 from + (first + r) * pitch + k + column,
                 inside && first + r < limit, count);
    }
}
/* Prefetches the next rows of b, a line of 128 bytes each, into L2: weights
 * come from device memory. */
MO_DEVICE void fetch_rows(const elem *from, int pitch, int first, int limit,
                          int k, int end)
{
    const int lines = FETCHED * TN;
    for (int i = (int) threadIdx.x; i < lines; i += THREADS) {
        int row = first + i % TN, at = k + i / TN * TK;
        if (row < limit && at < end)
            mo_prefetch(from + row * pitch + at);
    }
}
MO_DEVICE void copy_turned(elem *tile, const elem *from, int pitch, int first,
                           int limit, int k, int end, int outer, int count)
{
    const int columns = outer / count, step = THREADS / columns;
    int column = (int) threadIdx.x % columns * count;
    int row = (int) threadIdx.x / columns;
    int inside = first + column < limit;
#pragma unroll
    for (int i = 0; i < (TK + step - 1) / step; i++) {
        int r = row + i * step;
        if (TK % step == 0 || r < TK)
            copy(tile + r * (outer + PAD) + column,
                 from + (k + r) * pitch + first + column,
                 inside && k + r < end, count);
    }
}
/* im2col: k runs over the rows of the window, its columns, and channels. A
 * thread copies one column of the tile, so that it keeps the origins of its
 * windows and advances k from step to step. */
#if A_FORM == WINDOWS
#define A_COLUMNS (TK / A_COUNT)
#define A_STEP (THREADS / A_COLUMNS)
#define A_ROWS ((TM + A_STEP - 1) / A_STEP)
#define NOWHERE (-16384)
typedef struct windows {
    int at[A_ROWS];
    int corner[A_ROWS];
    int y, x, channel;
} windows;
MO_DEVICE void find_windows(windows *w, const struct arguments *p, int first,
                            int k)
{
    int position = (k + (int) threadIdx.x % A_COLUMNS * A_COUNT);
    w->channel = position % p->window.channels;
    position /= p->window.channels;
    w->x = position % p->window.kernel_w;
    w->y = position / p->window.kernel_w;
#pragma unroll
    for (int i = 0; i < A_ROWS; i++) {
        int m = first + (int) threadIdx.x / A_COLUMNS + i * A_STEP;
        int row = m / p->window.out_w, image = row / p->window.out_h;
        int x = (m - row * p->window.out_w) * p->window.stride_w - p->window.pad_w;
        int y = (row - image * p->window.out_h) * p->window.stride_h - p->window.pad_h;
        w->at[i] = ((image * p->window.in_h + y) * p->window.in_w + x) * p->a_pitch;
        w->corner[i] = (m < p->m ? y : NOWHERE) * 65536 + (x & 65535);
    }
}
MO_DEVICE void copy_windows(windows *w, const struct arguments *p, elem *tile,
                            const elem *from)
{
    int column = (int) threadIdx.x % A_COLUMNS * A_COUNT;
    int row = (int) threadIdx.x / A_COLUMNS;
    int dy = w->y * p->window.dilation_h, dx = w->x * p->window.dilation_w;
    int there = (dy * p->window.in_w + dx) * p->a_pitch + w->channel;
#pragma unroll
    for (int i = 0; i < A_ROWS; i++) {
        int r = row + i * A_STEP;
        int y = (w->corner[i] >> 16) + dy, x = (short) w->corner[i] + dx;
        if (TM % A_STEP == 0 || r < TM)
            copy(tile + place_of(r, column), from + w->at[i] + there,
                 (unsigned) y < (unsigned) p->window.in_h &&
                     (unsigned) x < (unsigned) p->window.in_w && w->y < p->window.kernel_h,
                 A_COUNT);
    }
    w->channel += TK;
    while (w->channel >= p->window.channels) {
        w->channel -= p->window.channels;
        if (++w->x == p->window.kernel_w) {
            w->x = 0;
            w->y++;
        }
    }
}
#endif
