/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/unit/multiversion.h"

#include "exec/backend/cpu/kernels/few_queries.h"

#include <string.h>

#include "base/minmax.h"

void mo_cpu_few_queries_score(const mo_cpu_block_kernels *kernels,
                              const mo_cpu_matrix_view *keys, int64_t n_keys,
                              int64_t width, const float *const *queries,
                              int64_t n, float *scores)
{
    /* Keys are rows of weights. */
    const mo_block_format format = keys->elem == MO_ELEM_F32   ? MO_BLOCK_F32
                                   : keys->elem == MO_ELEM_F16 ? MO_BLOCK_F16
                                                               : MO_BLOCK_BF16;
    const size_t size = mo_elem_size(keys->elem);
    const size_t row = (size_t) keys->row * size;
    const char *key = (const char *) keys->data + (size_t) keys->at * size;

    for (int64_t j = 0, step; j < n_keys;
         j += step, key += (size_t) step * row) {
        bool several = n_keys - j >= MO_CPU_BLOCK_ROWS;
        mo_cpu_block_dot_fn *dot =
            several ? kernels->several[format] : kernels->one[format];

        step = several ? MO_CPU_BLOCK_ROWS : 1;
        for (int64_t i = 0; i < n; i++)
            dot(key, row, &(mo_cpu_block_data){ .x = queries[i] }, width,
                scores + i * n_keys + j);
    }
}

/* Adds count rows, each times its weight. */
MO_CPU_INLINE void add_rows(float *to, int64_t width, const float *rows,
                            const float *weights, const int count)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < width; i++) {
        float sum = to[i];

#pragma GCC unroll 8
        for (int j = 0; j < count; j++)
            sum += weights[j] * rows[j * width + i];
        to[i] = sum;
    }
}

MO_CPU_MULTIVERSION static void add_values(float *to, int64_t width,
                                           const float *values,
                                           const float *weights, int64_t count)
{
    if (count == MO_CPU_VALUES_AT_ONCE) {
        add_rows(to, width, values, weights, MO_CPU_VALUES_AT_ONCE);
        return;
    }
    for (int64_t j = 0; j < count; j++)
        add_rows(to, width, values + j * width, weights + j, 1);
}

void mo_cpu_few_queries_add_values(const mo_cpu_matrix_view *values,
                                   int64_t n_values, int64_t width,
                                   const float *weights, int64_t n,
                                   float *scratch, float *out, int64_t pitch)
{
    for (int64_t i = 0; i < n; i++)
        memset(out + i * pitch, 0, (size_t) width * sizeof *out);
    for (int64_t j = 0; j < n_values; j += MO_CPU_VALUES_AT_ONCE) {
        int64_t count = mo_min_i64(MO_CPU_VALUES_AT_ONCE, n_values - j);
        mo_cpu_matrix_view from = *values;

        from.at += j * values->row;
        mo_cpu_load_f32_matrix(&from, count, width, scratch, width);
        for (int64_t i = 0; i < n; i++)
            add_values(out + i * pitch, width, scratch,
                       weights + i * n_values + j, count);
    }
}
