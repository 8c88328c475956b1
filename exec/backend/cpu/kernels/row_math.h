/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - sums, maxima and exponentials of rows: what norms and softmax are
 * made of.
 *
 * Rows are registers as in point_step.h: floats, or doubles.  Sums are taken in
 * lanes whose number is fixed, so that they are the same everywhere.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_ROW_MATH_H
#define MO_EXEC_BACKEND_CPU_KERNELS_ROW_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mo_cpu_row_math {
    size_t bytes; /* of an element */
    double (*sum)(const void *row, int64_t n);
    /* Of (x - shift)^2. */
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
