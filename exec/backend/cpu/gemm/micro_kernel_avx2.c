/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM micro-kernels for AVX2 and FMA. */
#if defined(__x86_64__)

#include <immintrin.h>

/* The largest tile, 6 rows of 2 vectors, has its sums in 12 of the 16
 * registers. */
#define TILE_VECTOR        32
#define TILE_TARGET        __attribute__((target("avx2,fma")))
#define TILE_LARGER(a, b)  _mm256_max_ps(a, b)
#define TILE_SMALLER(a, b) _mm256_min_ps(a, b)
#define TILE_MASK(n)                                                           \
    _mm256_loadu_si256((const __m256i *) (const void *) (lane_mask + 8 - (n)))
#define TILE_LOAD_FEW(from, n)   _mm256_maskload_ps(from, TILE_MASK(n))
#define TILE_STORE_FEW(to, v, n) _mm256_maskstore_ps(to, TILE_MASK(n), v)

static const int lane_mask[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };

#include "exec/backend/cpu/gemm/micro_kernel_body.inc"

TILE(6);
TILE(4);
TILE(3);
TILE(2);
TILE(1);
PANELS(1, 4);

const mo_cpu_micro_kernels mo_cpu_micro_kernels_avx2 = {
    .name = "avx2",
    .width = 2 * LANES,
    .depthwise = run_depthwise,
    .narrow = LANES,
    .rows = { 6, 4, 3, 2, 1 },
    .wide_run = { run_wide_6, run_wide_4, run_wide_3, run_wide_2, run_wide_1 },
    .narrow_run = { run_narrow_6, run_narrow_4, run_narrow_3, run_narrow_2,
                    run_narrow_1 },
    .panels = { 0, 0, 0, 0, 4 },
    .panels_run = { NULL, NULL, NULL, NULL, run_panels_1 },
};

#else
/* ISO C forbids an empty file. */
typedef int mo_no_avx2;
#endif
