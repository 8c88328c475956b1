/* SPDX-License-Identifier: Apache-2.0 */
/*
 * few_queries.h - products of attention for a few queries, as of one token.
 *
 * Packing keys and values for a GEMM takes longer than to multiply them by few
 * rows: here they are read as they are, plain numbers of 16 or 32 bits. Rows of
 * keys and of values are contiguous.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_FEW_QUERIES_H
#define MO_EXEC_BACKEND_CPU_KERNELS_FEW_QUERIES_H

#include <stdint.h>

#include "exec/backend/cpu/gemm/block_kernels.h"
#include "exec/backend/cpu/unit/load_f32.h"

enum { MO_CPU_VALUES_AT_ONCE = 8 };

/* Sets scores[i * n_keys + j] to the inner product of query i and key j, for n
 * queries of that width. */
void mo_cpu_few_queries_score(const mo_cpu_block_kernels *kernels,
                              const mo_cpu_matrix_view *keys, int64_t n_keys,
                              int64_t width, const float *const *queries,
                              int64_t n, float *scores);

/* Sets row i of out to the sum of all values, each times weights[i * n_values +
 * its number], for n rows. scratch: MO_CPU_VALUES_AT_ONCE * width floats. */
void mo_cpu_few_queries_add_values(const mo_cpu_matrix_view *values,
                                   int64_t n_values, int64_t width,
                                   const float *weights, int64_t n,
                                   float *scratch, float *out, int64_t pitch);

#endif
