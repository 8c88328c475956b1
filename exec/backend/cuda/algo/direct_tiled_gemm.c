/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/backend/cuda/algo/direct.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

/*
 * Threads stand 16 by 16 over a tile; each has the elements 16 apart in both
 * directions, so that neighbours read neighbours.  Both sides of DEPTH steps
 * along k are loaded while those before are multiplied: into registers first,
 * then to shared memory.
 */
enum { SIDE = 16, THREADS = SIDE * SIDE, DEPTH = 16 };

static const char tile_source[] =
    "#define BM (SIDE * TM)\n"
    "#define BN (SIDE * TN)\n"
    "#define LEFTS (BM * DEPTH / THREADS)\n"
    "#define RIGHTS (BN * DEPTH / THREADS)\n"
    "#define LEFT_M(i) (LEFT_BY_K ? (i) / DEPTH : (i) % BM)\n"
    "#define LEFT_K(i) (LEFT_BY_K ? (i) % DEPTH : (i) / BM)\n"
    "#define RIGHT_N(i) (RIGHT_BY_K ? (i) / DEPTH : (i) % BN)\n"
    "#define RIGHT_K(i) (RIGHT_BY_K ? (i) % DEPTH : (i) / BN)\n"
    "typedef struct { A left[LEFTS], right[RIGHTS]; } STEP;\n"
    "MO_DEVICE void fetch(const T *a, const T *b, PLACE z, PLACE m0, PLACE "
    "n0,\n"
    "                     PLACE k0, STEP *s)\n"
    "{\n"
    "#pragma unroll\n"
    "    for (int j = 0; j < LEFTS; j++) {\n"
    "        const int i = j * THREADS + (int) threadIdx.x;\n"
    "        const PLACE m = m0 + LEFT_M(i), k = k0 + LEFT_K(i);\n"
    "        s->left[j] = m < (PLACE) M && k < (PLACE) K ? left(a, z, m, k)\n"
    "                                                    : 0;\n"
    "    }\n"
    "#pragma unroll\n"
    "    for (int j = 0; j < RIGHTS; j++) {\n"
    "        const int i = j * THREADS + (int) threadIdx.x;\n"
    "        const PLACE n = n0 + RIGHT_N(i), k = k0 + RIGHT_K(i);\n"
    "        s->right[j] = n < (PLACE) N && k < (PLACE) K ? right(b, z, k, n)\n"
    "                                                     : 0;\n"
    "    }\n"
    "}\n"
    "MO_KERNEL_OF(direct, THREADS)(const T *a, const T *b, T *out, "
    "struct mo_extra p)\n"
    "{\n"
    "    MO_SHARED A lefts[DEPTH][BM + 1], rights[DEPTH][BN + 1];\n"
    "    const int x = (int) threadIdx.x % SIDE, y = (int) threadIdx.x / "
    "SIDE;\n"
    "    const int tm = TO_BY_M ? x : y, tn = TO_BY_M ? y : x;\n"
    "    const PLACE tiles = (PLACE) blockIdx.x;\n"
    "    const PLACE n0 = tiles % TILES_N * BN;\n"
    "    const PLACE m0 = tiles / TILES_N % TILES_M * BM;\n"
    "    const PLACE z = tiles / TILES_N / TILES_M;\n"
    "    A sums[TM][TN];\n"
    "    STEP s;\n"
    "    MO_BEGIN();\n"
    "    for (int i = 0; i < TM; i++)\n"
    "        for (int j = 0; j < TN; j++)\n"
    "            sums[i][j] = 0;\n"
    "    fetch(a, b, z, m0, n0, 0, &s);\n"
    "    for (PLACE k0 = 0; k0 < (PLACE) K; k0 += DEPTH) {\n"
    "        MO_SYNC();\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < LEFTS; j++) {\n"
    "            const int i = j * THREADS + (int) threadIdx.x;\n"
    "            lefts[LEFT_K(i)][LEFT_M(i)] = s.left[j];\n"
    "        }\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < RIGHTS; j++) {\n"
    "            const int i = j * THREADS + (int) threadIdx.x;\n"
    "            rights[RIGHT_K(i)][RIGHT_N(i)] = s.right[j];\n"
    "        }\n"
    "        MO_SYNC();\n"
    "        if (k0 + DEPTH < (PLACE) K)\n"
    "            fetch(a, b, z, m0, n0, k0 + DEPTH, &s);\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < DEPTH; k++) {\n"
    "            A l[TM], r[TN];\n"
    "#pragma unroll\n"
    "            for (int i = 0; i < TM; i++)\n"
    "                l[i] = lefts[k][i * SIDE + tm];\n"
    "#pragma unroll\n"
    "            for (int j = 0; j < TN; j++)\n"
    "                r[j] = rights[k][j * SIDE + tn];\n"
    "#pragma unroll\n"
    "            for (int i = 0; i < TM; i++)\n"
    "#pragma unroll\n"
    "                for (int j = 0; j < TN; j++)\n"
    "                    sums[i][j] += l[i] * r[j];\n"
    "        }\n"
    "    }\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < TM; i++)\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < TN; j++) {\n"
    "            const PLACE m = m0 + i * SIDE + tm, n = n0 + j * SIDE + tn;\n"
    "            const R v = (R) sums[i][j];\n"
    "            if (m < (PLACE) M && n < (PLACE) N)\n"
    "                finish1(to(z, m, n), &v, p, out);\n"
    "        }\n"
    "}\n";

/* Elements of a thread along a side of size: not many more than there are. */
static int reach_of(int64_t size)
{
    return size > 2 * SIDE ? 4 : size > SIDE ? 2 : 1;
}

static int64_t tiles_along(int64_t size, int reach)
{
    return (size + SIDE * reach - 1) / (SIDE * reach);
}

static int64_t tiles_of(const mo_cuda_tiled_gemm *t, int tm, int tn)
{
    return t->z * tiles_along(t->m, tm) * tiles_along(t->n, tn);
}

mo_status mo_cuda_emit_tiled_gemm(const mo_backend_unit *unit,
                                  const mo_cuda_tiled_gemm *tiles,
                                  mo_cuda_source *code, mo_cuda_grid *grid,
                                  mo_error *err)
{
    int tm = reach_of(tiles->m), tn = reach_of(tiles->n);

    /* Rather small tiles than processors without any. */
    while (tm * tn > 1 && tiles_of(tiles, tm, tn) < unit->sms)
        *(tm >= tn ? &tm : &tn) /= 2;
    mo_cuda_source_printf(
        code,
        "#define SIDE %d\n#define THREADS %d\n#define DEPTH %d\n"
        "#define TM %d\n#define TN %d\n"
        "#define TILES_M ((PLACE) %lldLL)\n"
        "#define TILES_N ((PLACE) %lldLL)\n"
        "#define LEFT_BY_K %d\n#define RIGHT_BY_K %d\n"
        "#define TO_BY_M %d\n"
        "#define M %lldLL\n#define N %lldLL\n#define K %lldLL\n",
        SIDE, THREADS, DEPTH, tm, tn, (long long) tiles_along(tiles->m, tm),
        (long long) tiles_along(tiles->n, tn), tiles->left_by_k,
        tiles->right_by_k, tiles->to_by_m, (long long) tiles->m,
        (long long) tiles->n, (long long) tiles->k);
    mo_cuda_source_append(code, tile_source);
    return mo_cuda_grid_1d(tiles_of(tiles, tm, tn), 1, THREADS, grid, err);
}
