/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GEMM micro-kernels for any processor, in the compiler's vector extension.
 * Vectors of four floats exist on all current processors; compilers emulate
 * them elsewhere.
 */
#include <stdint.h>
#include <string.h>

#define TILE_VECTOR 16
#define TILE_TARGET
#define TILE_LARGER(a, b)  select_lanes((a) > (b), a, b)
#define TILE_SMALLER(a, b) select_lanes((a) < (b), a, b)

typedef int32_t mask __attribute__((vector_size(TILE_VECTOR)));
typedef float four __attribute__((vector_size(TILE_VECTOR)));

static inline four select_lanes(mask which, four a, four b)
{
    return (four) ((which & (mask) a) | (~which & (mask) b));
}

static inline four load_few(const float *from, int n)
{
    four v = { 0 };

    memcpy(&v, from, (size_t) n * sizeof *from);
    return v;
}

#define TILE_LOAD_FEW(from, n)   load_few(from, n)
#define TILE_STORE_FEW(to, v, n) memcpy(to, &(v), (size_t) (n) * sizeof(float))
#include "exec/backend/cpu/gemm/micro_kernel_body.inc"

/* Sums for 32 registers, or for 16. */
#if defined(__aarch64__)
TILE(12);
#define run_wide_most   run_wide_12
#define run_narrow_most run_narrow_12
#define MOST            12
#else
TILE(6);
#define run_wide_most   run_wide_6
#define run_narrow_most run_narrow_6
#define MOST            6
#endif
TILE(4);
TILE(3);
TILE(2);
TILE(1);
PANELS(1, 4);
#if defined(__aarch64__)
PANELS(4, 2);
PANELS(2, 4);
#endif

const mo_cpu_micro_kernels mo_cpu_micro_kernels_generic = {
    .name = "plain",
    .width = 2 * LANES,
    .depthwise = run_depthwise,
    .narrow = LANES,
    .rows = { MOST, 4, 3, 2, 1 },
    .wide_run = { run_wide_most, run_wide_4, run_wide_3, run_wide_2,
                  run_wide_1 },
    .narrow_run = { run_narrow_most, run_narrow_4, run_narrow_3, run_narrow_2,
                    run_narrow_1 },
#if defined(__aarch64__)
    .panels = { 0, 2, 0, 4, 4 },
    .panels_run = { NULL, run_panels_4, NULL, run_panels_2, run_panels_1 },
#else
    .panels = { 0, 0, 0, 0, 4 },
    .panels_run = { NULL, NULL, NULL, NULL, run_panels_1 },
#endif
};
