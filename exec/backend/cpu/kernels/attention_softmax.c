/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of one row of attention scores, with scale and mask. */
#include <math.h>
#include <string.h>

#include "exec/backend/cpu/kernels/cpu_attention.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/pointwise/math_f32.h"

/* Reductions keep a fixed number of partial results: compilers vectorize them,
 * and every machine adds in the same order. */
enum { LANES = 16 };

MO_CPU_MULTIVERSION static void scale_scores(float *x, int64_t n, float scale,
                                             const float *added)
{
    if (added) {
        MO_CPU_IVDEP
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] * scale + added[i];
    } else {
        MO_CPU_IVDEP
        for (int64_t i = 0; i < n; i++)
            x[i] *= scale;
    }
}

MO_CPU_MULTIVERSION static float max_score(const float *x, int64_t n)
{
    float lane[LANES];
    int64_t i = 0;

    for (int l = 0; l < LANES; l++)
        lane[l] = -INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
    for (; i < n; i++)
        lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    for (int l = 1; l < LANES; l++)
        lane[0] = lane[l] > lane[0] ? lane[l] : lane[0];
    return lane[0];
}

MO_CPU_MULTIVERSION static void exp_scores(float *x, int64_t n, float largest)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        x[i] = mo_cpu_exp_f32(x[i] - largest);
}

MO_CPU_MULTIVERSION static float sum_weights(const float *x, int64_t n)
{
    float lane[LANES] = { 0 };
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    for (; i < n; i++)
        lane[0] += x[i];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

float mo_cpu_attention_softmax_row(float *scores, int64_t n, float scale,
                                   const mo_cpu_attention_mask *view)
{
    float largest, sum;

    scale_scores(scores, view->count, scale, view->added);
    largest = max_score(scores, view->count);
    if (view->zero_if_masked && largest == -INFINITY)
        largest = 0;
    exp_scores(scores, view->count, largest);
    memset(scores + view->count, 0,
           (size_t) (n - view->count) * sizeof *scores);
    sum = sum_weights(scores, view->count);
    return view->zero_if_masked && sum == 0 ? 1 : sum;
}

/* Static, since an IFUNC symbol does not take the hidden visibility of its
 * declaration and would be exported by libmoirai.a. */
MO_CPU_MULTIVERSION
static void scale_row(float *row, int64_t n, float factor)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        row[i] *= factor;
}

void mo_cpu_attention_scale_row(float *row, int64_t n, float factor)
{
    scale_row(row, n, factor);
}
