/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and variance normalisation of rows.  Two passes: the mean, then the sum of
 * squared deviations from it, so that a large mean costs no digits. */
/* example:begin */
#include "exec/backend/cuda/kernels/row_reduction.cuh"
#define CENTER 1
#define SCALE 1
MO_DEVICE R factor_of(R squares)
{
    return 1 / sqrtf(squares / (R) COUNT + 1e-5f);
}
/* example:end */
/* embed: kernel_source */
MO_KERNEL_OF(norm_rows, BLOCK)(const T *in, T *out, struct mo_extra p)
{
    ROW_BEGIN
    R mean = 0, factor = 1, sum = 0, squares = 0;
    MO_NEXT();
    ROW_LOAD_CONSTANTS
    MO_BEGIN();
    ROW_LOAD
    if (CENTER) {
        ROW_EACH(sum += y[i])
        mean = row_sum(sum, 0) / (R) COUNT;
    }
    if (SCALE) {
        ROW_EACH(squares += (y[i] - mean) * (y[i] - mean))
        factor = factor_of(row_sum(squares, 1));
    }
    ROW_STORE(y[i] = (y[i] - mean) * factor)
}
