/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.h - attention: what its files share.
 *
 * For a block of queries, the scores against all keys are a product, their
 * softmax is taken row by row while they are in the cache, and a second product
 * with the values follows.  Dividing by the sums comes last: it is less work
 * there.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_CPU_ATTENTION_H
#define MO_EXEC_BACKEND_CPU_KERNELS_CPU_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* What keys a query sees: the first count of them, with something added to each
 * score or not. */
typedef struct mo_cpu_attention_mask {
    int64_t count;
    const float *added; /* by key, or NULL */
} mo_cpu_attention_mask;

/* Turns the scores of one query against n keys into weights, up to a factor:
 * exp(scale * score + added - their largest), 0 for keys not seen.  Returns the
 * sum of them. */
float mo_cpu_attention_softmax_row(float *scores, int64_t n, float scale,
                                   const mo_cpu_attention_mask *view);

/* row[i] *= factor */
void mo_cpu_attention_scale_row(float *row, int64_t n, float factor);

#endif
