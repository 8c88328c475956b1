/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_math.h - row operations of norms and softmax: sums, maxima,
 * exponentials.
 *
 * Rows are register arrays as in pointwise/steps.h: floats or doubles. The
 * number of lanes of a sum is fixed, so that results are the same on every
 * machine.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_ROW_MATH_H
#define MO_EXEC_BACKEND_CPU_KERNELS_ROW_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mo_cpu_row_math {
    size_t bytes; /* of an element */
    double (*sum)(const void *row, int64_t n);
    /* Sum of (x - shift)^2. */
    double (*squares)(const void *row, double shift, int64_t n);
    double (*largest)(const void *row, int64_t n);
    /* out = (x - shift) * factor; out may be the row itself. */
    void (*scale)(const void *row, void *out, double shift, double factor,
                  int64_t n);
    /* out = e^(x - shift). */
    void (*exp)(const void *row, void *out, double shift, int64_t n);
} mo_cpu_row_math;

const mo_cpu_row_math *mo_cpu_row_math_for(bool wide);

#endif
