/* SPDX-License-Identifier: Apache-2.0 */
/* Tiled GEMM without tensor cores.  16 x 16 threads compute a tile of the result,
 * each the elements 16 apart in both directions, so that neighbouring threads
 * read neighbouring elements.  The operands of DEPTH steps along k are loaded
 * into registers while the previous ones, in shared memory, are multiplied. */
/* example:begin */
#include "exec/backend/cuda/algo/direct_matmul.cuh"
#define SIDE 16
#define THREADS 256
#define DEPTH 16
#define TM 4
#define TN 4
#define TILES_M ((PLACE) 1LL)
#define TILES_N ((PLACE) 2LL)
#define LEFT_BY_K 1
#define RIGHT_BY_K 1
#define TO_BY_M 0
#define M 50LL
#define N 70LL
#define K 100LL
/* example:end */
/* embed: tile_source */
#define BM (SIDE * TM)
#define BN (SIDE * TN)
#define LEFTS (BM * DEPTH / THREADS)
#define RIGHTS (BN * DEPTH / THREADS)
#define LEFT_M(i) (LEFT_BY_K ? (i) / DEPTH : (i) % BM)
#define LEFT_K(i) (LEFT_BY_K ? (i) % DEPTH : (i) / BM)
#define RIGHT_N(i) (RIGHT_BY_K ? (i) / DEPTH : (i) % BN)
#define RIGHT_K(i) (RIGHT_BY_K ? (i) % DEPTH : (i) / BN)
typedef struct { A left[LEFTS], right[RIGHTS]; } STEP;
MO_DEVICE void fetch(const T *a, const T *b, PLACE z, PLACE m0, PLACE n0,
                     PLACE k0, STEP *s)
{
#pragma unroll
    for (int j = 0; j < LEFTS; j++) {
        const int i = j * THREADS + (int) threadIdx.x;
        const PLACE m = m0 + LEFT_M(i), k = k0 + LEFT_K(i);
        s->left[j] = m < (PLACE) M && k < (PLACE) K ? left(a, z, m, k)
                                                    : 0;
    }
#pragma unroll
    for (int j = 0; j < RIGHTS; j++) {
        const int i = j * THREADS + (int) threadIdx.x;
        const PLACE n = n0 + RIGHT_N(i), k = k0 + RIGHT_K(i);
        s->right[j] = n < (PLACE) N && k < (PLACE) K ? right(b, z, k, n)
                                                     : 0;
    }
}
MO_KERNEL_OF(direct, THREADS)(const T *a, const T *b, T *out, struct mo_extra p)
{
    MO_SHARED A lefts[DEPTH][BM + 1], rights[DEPTH][BN + 1];
    const int x = (int) threadIdx.x % SIDE, y = (int) threadIdx.x / SIDE;
    const int tm = TO_BY_M ? x : y, tn = TO_BY_M ? y : x;
    const PLACE tiles = (PLACE) blockIdx.x;
    const PLACE n0 = tiles % TILES_N * BN;
    const PLACE m0 = tiles / TILES_N % TILES_M * BM;
    const PLACE z = tiles / TILES_N / TILES_M;
    A sums[TM][TN];
    STEP s;
    MO_BEGIN();
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            sums[i][j] = 0;
    fetch(a, b, z, m0, n0, 0, &s);
    for (PLACE k0 = 0; k0 < (PLACE) K; k0 += DEPTH) {
        MO_SYNC();
#pragma unroll
        for (int j = 0; j < LEFTS; j++) {
            const int i = j * THREADS + (int) threadIdx.x;
            lefts[LEFT_K(i)][LEFT_M(i)] = s.left[j];
        }
#pragma unroll
        for (int j = 0; j < RIGHTS; j++) {
            const int i = j * THREADS + (int) threadIdx.x;
            rights[RIGHT_K(i)][RIGHT_N(i)] = s.right[j];
        }
        MO_SYNC();
        if (k0 + DEPTH < (PLACE) K)
            fetch(a, b, z, m0, n0, k0 + DEPTH, &s);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            A l[TM], r[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                l[i] = lefts[k][i * SIDE + tm];
#pragma unroll
            for (int j = 0; j < TN; j++)
                r[j] = rights[k][j * SIDE + tn];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sums[i][j] += l[i] * r[j];
        }
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) {
            const PLACE m = m0 + i * SIDE + tm, n = n0 + j * SIDE + tn;
            const PLACE at = m < (PLACE) M && n < (PLACE) N ? to(z, m, n) : -1;
            const R v = (R) sums[i][j];
            if (at >= 0)
                finish1(at, &v, p, out);
        }
}
