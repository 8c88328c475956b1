/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolution through the indirection buffer. */
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/conv/cpu_conv.h"

enum { AT_ONCE = 64 };

/* Sums of up to AT_ONCE channels stay in registers over all taps. */
MO_CPU_MULTIVERSION static void add_taps(const float *const *row, int64_t step,
                                         int64_t taps, const float *weights,
                                         int64_t channels, int64_t first,
                                         int64_t count, float *c)
{
    float sum[AT_ONCE] = { 0 };

    for (int64_t t = 0; t < taps; t++) {
        const float *x = row[t * step] + first;
        const float *w = weights + t * channels + first;

        if (count == AT_ONCE) {
            MO_CPU_IVDEP
            for (int j = 0; j < AT_ONCE; j++)
                sum[j] += x[j] * w[j];
        } else {
            MO_CPU_IVDEP
            for (int64_t j = 0; j < count; j++)
                sum[j] += x[j] * w[j];
        }
    }
    for (int64_t j = 0; j < count; j++)
        c[first + j] = sum[j];
}

void mo_cpu_conv_depthwise(const float *const *rows, int64_t n, int64_t taps,
                           const float *weights, int64_t channels, float *c)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < channels; j += AT_ONCE)
            add_taps(rows + i, n, taps, weights, channels, j,
                     channels - j < AT_ONCE ? channels - j : AT_ONCE,
                     c + i * channels);
}
