/* SPDX-License-Identifier: Apache-2.0 */
/* Main loop of the tensor core GEMM: a pipeline of asynchronous copies STAGES
 * - 1 steps ahead of the mma instructions. Constants are loaded before the
 * previous kernel is complete. */
/* example:begin */
#include "exec/backend/cuda/algo/tensorcore_epilogue.cuh"
/* example:end */
#if A_FORM == WINDOWS
#define COPY_A(slot, k) copy_windows(&w, &p, tiles + (slot) * STAGE, a)
#elif A_FORM == TURNED
#define COPY_A(slot, k) \
    copy_turned(tiles + (slot) * STAGE, a, p.a_pitch, row, p.m, k, end, TM, \
                A_COUNT)
#else
#define COPY_A(slot, k) \
    copy_rows(tiles + (slot) * STAGE, a, p.a_pitch, row, p.m, k, end, TM, \
              A_COUNT)
#endif
#if B_FORM == TURNED
#define COPY_B(slot, k) \
    copy_turned(tiles + (slot) * STAGE + A_SIZE, b, p.b_pitch, column, p.n, \
                k, end, TN, B_COUNT)
#else
#define COPY_B(slot, k) \
    copy_rows(tiles + (slot) * STAGE + A_SIZE, b, p.b_pitch, column, p.n, k, \
              end, TN, B_COUNT)
#endif
#define WARPS_M (TM / WM)
#define WARPS_N (TN / WN)
#define SLICES (4 / GROUPS)
MO_DEVICE long long batch_at(const long long *stride, const int *index)
{
    return index[0] * stride[0] + index[1] * stride[1] + index[2] * stride[2];
}
/* Called when the sums are in, or on their way to, shared memory. */
MO_DEVICE void finish_tile(const struct arguments *p, const float *shared,
                           int row, int column, long long base, WIDE bias,
                           struct mo_extra extra)
{
    const int tile = (int) (blockIdx.x + gridDim.x * blockIdx.y);
    const int rows = (TM + p->n_parts - 1) / p->n_parts * PIECES_ROW;
    float *parts = p->parts + (long long) tile * p->n_parts * PIECES * WIDTH;
    int from = 0, to = PIECES;
#if MO_HAS_CLUSTER
    if (p->clustered) {
        from = (int) blockIdx.z * rows;
        to = from + rows < PIECES ? from + rows : PIECES;
        mo_cluster_sync();
    } else
#endif
    {
        MO_SYNC();
        if (p->n_parts > 1 && !is_last(p, shared, parts, p->arrived + tile))
            return;
    }
    finish_pieces(p, shared, parts, row, column, base, bias, extra, from, to);
#if MO_HAS_CLUSTER
    if (p->clustered)
        mo_cluster_sync();
#endif
}
MO_KERNEL_SIZED(tensor, THREADS, BLOCKS)(struct arguments p,
                                         struct mo_extra extra)
{
    MO_DYNAMIC_SHARED(elem, tiles);
    const int warp = MO_WARP;
    const int warp_row = warp % WARPS_M * WM;
    const int warp_column = warp / WARPS_M % WARPS_N * WN;
    const int group = warp / (WARPS_M * WARPS_N);
    const int tile_m = (int) blockIdx.x % p.tiles_m;
    const int row = tile_m * TM;
    const int column = ((int) blockIdx.x / p.tiles_m) * TN;
    const int begin = (int) blockIdx.z * p.part_k;
    const int end = begin + p.part_k < p.k ? begin + p.part_k : p.k;
    const int steps = end > begin ? (end - begin + TK - 1) / TK : 0;
    const int rest = (int) blockIdx.y / p.extent[2];
    const int index[3] = { rest / p.extent[1], rest % p.extent[1],
                           (int) blockIdx.y % p.extent[2] };
    const elem *a = p.a + batch_at(p.a_batch, index);
    const elem *b = p.b + batch_at(p.b_batch, index);
    float sum[MI * NI * 4];
    fragments f[2];
    MO_NEXT();
#if B_CONSTANT
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++)
        if (i < steps)
            COPY_B(i, begin + i * TK);
#if B_FORM == ROWS
    if (tile_m == 0)
        fetch_rows(b, p.b_pitch, column, p.n, begin + (STAGES - 1) * TK, end);
#endif
#endif
#if A_FORM == WINDOWS
    windows w;
    find_windows(&w, &p, row, begin);
#endif
#pragma unroll
    for (int i = 0; i < MI * NI * 4; i++)
        sum[i] = 0.0f;
    MO_BEGIN();
    const WIDE bias = bias_of(&p, column, batch_at(p.bias_batch, index));
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < steps) {
            COPY_A(i, begin + i * TK);
#if !B_CONSTANT
            COPY_B(i, begin + i * TK);
#endif
        }
        mo_cp_commit();
    }
    for (int step = 0; step < steps; step++) {
        const elem *tile = tiles + step % STAGES * STAGE;
        const int next = step + STAGES - 1;
#if KIND == 1
        float part[MI * NI * 4] = { 0.0f };
#else
        float *part = sum;
#endif
        mo_cp_wait(STAGES - 2);
        MO_SYNC();
        take_a(f[0].a, tile, warp_row, group * SLICES);
        take_b(f[0].b, tile + A_SIZE, warp_column, group * SLICES);
        if (next < steps) {
            COPY_A(next % STAGES, begin + next * TK);
            COPY_B(next % STAGES, begin + next * TK);
        }
        mo_cp_commit();
#pragma unroll
        for (int s = 0; s < SLICES; s++) {
            if (s + 1 < SLICES) {
                take_a(f[(s + 1) & 1].a, tile, warp_row,
                       group * SLICES + s + 1);
                take_b(f[(s + 1) & 1].b, tile + A_SIZE, warp_column,
                       group * SLICES + s + 1);
            }
            multiply(part, &f[s & 1]);
        }
#if KIND == 1
#pragma unroll
        for (int i = 0; i < MI * NI * 4; i++)
            sum[i] += part[i];
#endif
    }
    mo_cp_wait(0);
    MO_SYNC();
    put_sums((float *) tiles + group * TM * PITCH, sum, warp_row, warp_column);
    finish_tile(&p, (const float *) tiles, row, column,
                batch_at(p.c_batch, index), bias, extra);
}
