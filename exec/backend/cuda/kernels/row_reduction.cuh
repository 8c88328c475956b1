/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over rows: THREADS threads per row, AT_ONCE rows per block.  A row
 * stays in registers where KEPT, else it is loaded again for each pass. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/example.cuh"
#define ROWS 4096LL
#define COUNT 768LL
#define THREADS 32
#define PER 6
#define AT_ONCE 4
#define BLOCK (AT_ONCE * THREADS)
#define KEPT 1
#define EARLY 1
#define ROW_UNROLL _Pragma("unroll")
/* example:end */
/* embed: macros */
/* Rows beyond the last one compute but do not store. Where registers are left,
 * they hold the operands of the epilogue, loaded early. */
#define ROW_BEGIN \
    const int t = (int) threadIdx.x % THREADS; \
    const long long row = (long long) blockIdx.x * AT_ONCE + \
                          (int) threadIdx.x / THREADS; \
    const int live = row < ROWS; \
    const PLACE from = (PLACE) (live ? row : 0) * (PLACE) COUNT; \
    R x[KEPT ? PER * WIDTH : WIDTH]; \
    FINISH_READ r[EARLY ? PER : 1];
MO_DEVICE void load_wide(const T *from, R *to)
{
    const WIDE w = read_wide(from);
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        to[i] = load(w.x[i]);
}
#define ROW_VECTORS(before, statement, after) \
    ROW_UNROLL \
    for (int j = 0; j < PER; j++) { \
        const PLACE at = ((PLACE) j * THREADS + t) * WIDTH; \
        R *y = KEPT ? x + j * WIDTH : x; \
        if (at < (PLACE) COUNT) { \
            before; \
            _Pragma("unroll") \
            for (int i = 0; i < WIDTH; i++) { \
                statement; \
            } \
            after; \
        } \
    }
#if EARLY
#define ROW_LOAD_CONSTANTS \
    ROW_VECTORS(finish_load_constants(from + at, p, &r[j]), , )
#define ROW_READ ROW_VECTORS(finish_read(from + at, p, &r[j]), , )
#define ROW_FINISH finish_with(from + at, y, &r[j], p, out)
#else
#define ROW_LOAD_CONSTANTS
#define ROW_READ
#define ROW_FINISH finish(from + at, y, p, out)
#endif
#if KEPT
#define ROW_LOAD \
    ROW_VECTORS(load_wide(in + from + at, y), , ) \
    ROW_READ
#define ROW_AGAIN
#else
#define ROW_LOAD
#define ROW_AGAIN load_wide(in + from + at, y)
#endif
#define ROW_EACH(statement) ROW_VECTORS(ROW_AGAIN, statement, )
#define ROW_STORE(statement) \
    if (live) { \
        ROW_VECTORS(ROW_AGAIN, statement, ROW_FINISH) \
    }
/* embed: reductions */
/* The threads of a row within a warp reduce by shuffles; a longer row is a
 * whole block, whose warps exchange their results in cells. */
MO_DEVICE R row_add(R a, R b) { return a + b; }
MO_DEVICE R row_larger(R a, R b) { return b > a ? b : a; }
#define ROW_REDUCTION(name, both) \
    MO_DEVICE R name(R a, int n) \
    { \
        MO_SHARED R cells[3][(THREADS + 31) / 32]; \
        for (int m = (THREADS < 32 ? THREADS : 32) / 2; m; m /= 2) \
            a = both(a, SHUFFLE_XOR(a, m)); \
        if (THREADS <= 32) \
            return a; \
        if (MO_LANE == 0) \
            cells[n][MO_WARP] = a; \
        MO_SYNC(); \
        a = cells[n][0]; \
        for (int w = 1; w < THREADS / 32; w++) \
            a = both(a, cells[n][w]); \
        return a; \
    }
ROW_REDUCTION(row_sum, row_add)
ROW_REDUCTION(row_most, row_larger)
