/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM micro-kernels for AVX-512. */
#if defined(__x86_64__)

#include <immintrin.h>

/* 28 of the 32 registers are sums. */
#define TILE_VECTOR            64
#define TILE_TARGET            __attribute__((target("avx512f,fma")))
#define TILE_LARGER(a, b)      _mm512_max_ps(a, b)
#define TILE_SMALLER(a, b)     _mm512_min_ps(a, b)
#define TILE_MASK(n)           ((__mmask16) ((1u << (n)) - 1))
#define TILE_LOAD_FEW(from, n) _mm512_maskz_loadu_ps(TILE_MASK(n), from)
#define TILE_STORE_FEW(to, v, n)                                               \
    _mm512_mask_storeu_ps(to, TILE_MASK(n), (__m512) (v))
#include "exec/backend/cpu/gemm/micro_kernel_body.inc"

TILE(14);
TILE(7);
TILE(4);
TILE(2);
TILE(1);
PANELS(1, 4);

const mo_cpu_micro_kernels mo_cpu_micro_kernels_avx512 = {
    .name = "avx512",
    .width = 2 * LANES,
    .depthwise = run_depthwise,
    .narrow = LANES,
    .rows = { 14, 7, 4, 2, 1 },
    .wide_run = { run_wide_14, run_wide_7, run_wide_4, run_wide_2, run_wide_1 },
    .narrow_run = { run_narrow_14, run_narrow_7, run_narrow_4, run_narrow_2,
                    run_narrow_1 },
    .panels = { 0, 0, 0, 0, 4 },
    .panels_run = { NULL, NULL, NULL, NULL, run_panels_1 },
};

#else
typedef int mo_no_avx512;
#endif
