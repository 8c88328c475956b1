/* SPDX-License-Identifier: Apache-2.0 */
/* Products that leave out padding, for weights with infinities or NaN: zero
 * times such a weight is NaN. They are rare, so there is no vector code. */
#include <math.h>

#include "base/minmax.h"
#include "exec/backend/cpu/conv/cpu_conv.h"

bool mo_cpu_conv_weights_finite(const mo_cpu_conv_kernel *kernel,
                                const float *packed)
{
    float sum = 0;

    for (int64_t i = 0; i < kernel->weight_floats; i++)
        sum += packed[i] * 0;
    return !isnan(sum);
}

/* Returns the sum of a row and a column; panel is the first weight of the
 * column, width the distance to the next one. */
static float multiply_row(const mo_cpu_conv_kernel *kernel,
                          const mo_cpu_gemm *product, int64_t row, int64_t skip,
                          const float *panel, int64_t width)
{
    float sum = 0;

    for (int64_t t = 0; t < product->taps; t++) {
        const float *x = product->rows[t * product->step + row];

        for (int64_t i = 0; x != kernel->zeros && i < product->depth; i++)
            sum += x[skip + i] * panel[(t * product->depth + i) * width];
    }
    return sum;
}

void mo_cpu_conv_multiply_inside(const mo_cpu_conv_kernel *kernel,
                                 const mo_cpu_gemm *product)
{
    const mo_cpu_micro_kernels *micro_kernels = product->micro_kernels;
    int64_t depth = product->taps * product->depth;

    for (int64_t j = 0; j < product->columns; j++) {
        int64_t first = j / micro_kernels->width * micro_kernels->width;
        int64_t width = mo_min_i64(
            micro_kernels->width,
            mo_cpu_gemm_panel_columns(micro_kernels, product->columns - first));
        const float *panel = product->panels + first * depth + (j - first);

        for (int64_t r = 0; r < product->n_rows; r++)
            product->c[r * product->pitch + j] =
                multiply_row(kernel, product, r, product->skip, panel, width);
    }
}
