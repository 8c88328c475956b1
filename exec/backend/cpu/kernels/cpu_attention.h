/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_attention.h - scaled dot-product attention (Vaswani et al., 2017).
 *
 * For a block of queries, a GEMM computes the scores against all keys, softmax
 * runs row by row while they are in the cache, and a second GEMM multiplies by
 * the values. The division by the sums comes last, where it is less work.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_CPU_ATTENTION_H
#define MO_EXEC_BACKEND_CPU_KERNELS_CPU_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* Mask of one query: it sees the first count keys; added, if not NULL, is
 * added to their scores. zero_if_masked: as in mo_call_attention. */
typedef struct mo_cpu_attention_mask {
    int64_t count;
    const float *added; /* by key, or NULL */
    bool zero_if_masked;
} mo_cpu_attention_mask;

/* Turns the scores of one query against n keys into unnormalized weights:
 * exp(scale * score + added - their maximum), 0 for masked keys. Returns their
 * sum, or 1 where that is 0 and may be. */
float mo_cpu_attention_softmax_row(float *scores, int64_t n, float scale,
                                   const mo_cpu_attention_mask *view);

/* row[i] *= factor */
void mo_cpu_attention_scale_row(float *row, int64_t n, float factor);

#endif
