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

#include "exec/backend/cuda/algo/direct_tiled_gemm.inc"

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
