/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_f32.h - conversion of elements of any real type to floats.
 *
 * Products and pooling windows compute in floats; other types are converted
 * into scratch.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_LOAD_F32_H
#define MO_EXEC_BACKEND_CPU_UNIT_LOAD_F32_H

#include <stdint.h>

#include "exec/tensor/elem.h"

/* to[i] = element at + i * stride of data, for i below count. */
void mo_cpu_load_f32(const void *data, mo_elem elem, int64_t at, int64_t stride,
                     int64_t count, float *to);

/* The same with elements of a matrix: to[i * pitch + j] = element at + i * row
 * + j * column. */
typedef struct mo_cpu_matrix_view {
    const void *data;
    mo_elem elem;
    int64_t at, row, column;
} mo_cpu_matrix_view;

void mo_cpu_load_f32_matrix(const mo_cpu_matrix_view *from, int64_t rows,
                            int64_t columns, float *to, int64_t pitch);

#endif
