/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of a GEMM (direct_tiled_gemm.cu) for a batched, strided matrix product.
 */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/example.cuh"
typedef float A;
#define A_ROW 100LL
#define A_COLUMN 1LL
#define B_ROW 1LL
#define B_COLUMN 100LL
#define C_ROW 70LL
#define C_COLUMN 1LL
MO_DEVICE PLACE a_of(PLACE z) { return z * 5000; }
MO_DEVICE PLACE b_of(PLACE z) { return z * 7000; }
MO_DEVICE PLACE c_of(PLACE z) { return z * 3500; }
/* example:end */
/* embed: matmul_source */
MO_DEVICE A left(const T *a, PLACE z, PLACE m, PLACE k)
{
    return (A) load(a[a_of(z) + m * (PLACE) A_ROW + k * (PLACE) A_COLUMN]);
}
MO_DEVICE A right(const T *b, PLACE z, PLACE k, PLACE n)
{
    return (A) load(b[b_of(z) + k * (PLACE) B_ROW + n * (PLACE) B_COLUMN]);
}
MO_DEVICE PLACE to(PLACE z, PLACE m, PLACE n)
{
    return c_of(z) + m * (PLACE) C_ROW + n * (PLACE) C_COLUMN;
}
