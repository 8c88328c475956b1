/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and log-softmax: over rows by the threads of a row (row_reduction.cuh),
 * or, along any other dimension, over COLUMNS neighbouring columns per block with
 * DEEP threads for each. */
/* example:begin */
#include "exec/backend/cuda/kernels/row_reduction.cuh"
#define LOGARITHM 0
#define COLUMNS 32
#define DEEP 4
#define INNER 96
#define TILES 3
/* example:end */
/* embed: row_source */
MO_KERNEL_OF(softmax, BLOCK)(const T *in, T *out, struct mo_extra p)
{
    ROW_BEGIN
    R most = (R) -MO_INF, sum = 0;
    MO_NEXT();
    ROW_LOAD_CONSTANTS
    MO_BEGIN();
    ROW_LOAD
    ROW_EACH(most = row_larger(most, y[i]))
    most = row_most(most, 0);
#if LOGARITHM
    ROW_EACH(sum += MATH(exp)(y[i] - most))
    most += MATH(log)(row_sum(sum, 1));
    ROW_STORE(y[i] = y[i] - most)
#else
    ROW_EACH(y[i] = MATH(exp)(y[i] - most); sum += y[i])
    sum = 1 / row_sum(sum, 1);
    ROW_STORE(y[i] = (KEPT ? y[i] : MATH(exp)(y[i] - most)) * sum)
#endif
}
/* example:begin */
#define softmax softmax_columns
/* example:end */
/* embed: column_source */
MO_DEVICE R larger(R a, R b) { return b > a ? b : a; }
MO_DEVICE R add(R a, R b) { return a + b; }
#define OVER_COLUMN(both, a) \
    MO_SYNC(); \
    cells[deep][column] = a; \
    MO_SYNC(); \
    a = cells[0][column]; \
    for (int d = 1; d < DEEP; d++) \
        a = both(a, cells[d][column]);
#define EACH for (PLACE c = deep; c < (PLACE) COUNT; c += DEEP)
#define X load(in[from + c * INNER])
MO_KERNEL_OF(softmax, BLOCK)(const T *in, T *out, struct mo_extra p)
{
    MO_SHARED R cells[DEEP][COLUMNS];
    const int column = (int) threadIdx.x % COLUMNS;
    const int deep = (int) threadIdx.x / COLUMNS;
    const PLACE first = (PLACE) (blockIdx.x % TILES) * COLUMNS + column;
    const int live = first < INNER;
    const PLACE from = (PLACE) (blockIdx.x / TILES) * COUNT * INNER +
                       (live ? first : 0);
    R most = (R) -MO_INF, sum = 0;
    MO_BEGIN();
    EACH most = larger(most, X);
    OVER_COLUMN(larger, most)
    EACH sum += MATH(exp)(X - most);
    OVER_COLUMN(add, sum)
    const R shift = LOGARITHM ? most + MATH(log)(sum) : most;
    const R share = 1 / sum;
    if (live) EACH {
        const R x = X - shift;
        const R y = LOGARITHM ? x : MATH(exp)(x) * share;
        finish1(from + c * INNER, &y, p, out);
    }
}
