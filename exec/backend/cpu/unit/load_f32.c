/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/unit/multiversion.h"

#include "exec/backend/cpu/unit/load_f32.h"

#include <assert.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/tensor/half.h"

static void load_f32(const float *from, int64_t stride, int64_t n, float *to)
{
    if (stride == 1) {
        memcpy(to, from, (size_t) n * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * stride];
}

static void load_f64(const double *from, int64_t stride, int64_t n, float *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (float) from[i * stride];
}

/* A loop of its own where elements follow each other: it is vectorized. */
#define LOAD_HALF(name, value)                                                 \
    MO_CPU_MULTIVERSION static void name(const uint16_t *from, int64_t stride, \
                                         int64_t n, float *to)                 \
    {                                                                          \
        if (stride == 1) {                                                     \
            MO_CPU_IVDEP for (int64_t i = 0; i < n; i++) to[i] =               \
                value(from[i]);                                                \
        } else {                                                               \
            for (int64_t i = 0; i < n; i++)                                    \
                to[i] = value(from[i * stride]);                               \
        }                                                                      \
    }

LOAD_HALF(load_f16, mo_f16_to_f32)
LOAD_HALF(load_bf16, mo_bf16_to_f32)

void mo_cpu_load_f32(const void *data, mo_elem elem, int64_t at, int64_t stride,
                     int64_t count, float *to)
{
    switch (elem) {
    case MO_ELEM_F32:
        load_f32((const float *) data + at, stride, count, to);
        break;
    case MO_ELEM_F64:
        load_f64((const double *) data + at, stride, count, to);
        break;
    case MO_ELEM_F16:
        load_f16((const uint16_t *) data + at, stride, count, to);
        break;
    case MO_ELEM_BF16:
        load_bf16((const uint16_t *) data + at, stride, count, to);
        break;
    default:
        assert(!"a real type");
    }
}

/* Neighbouring columns are read together: each cache line of the source is
 * used up before it is evicted. */
static void turn_f32(const float *from, int64_t column, int64_t rows,
                     int64_t columns, float *to, int64_t pitch)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[i * pitch + j] = from[i + j * column];
}

void mo_cpu_load_f32_matrix(const mo_cpu_matrix_view *from, int64_t rows,
                            int64_t columns, float *to, int64_t pitch)
{
    enum { SIDE = 32 };
    float part[SIDE * SIDE];

    if (from->row != 1 || from->column == 1) {
        for (int64_t i = 0; i < rows; i++)
            mo_cpu_load_f32(from->data, from->elem, from->at + i * from->row,
                            from->column, columns, to + i * pitch);
        return;
    }
    for (int64_t i = 0; i < rows; i += SIDE)
        for (int64_t j = 0; j < columns; j += SIDE) {
            int64_t n = mo_min_i64(rows - i, SIDE);
            int64_t m = mo_min_i64(columns - j, SIDE);
            int64_t at = from->at + i + j * from->column;
            float *turned = to + i * pitch + j;

            if (from->elem == MO_ELEM_F32) {
                turn_f32((const float *) from->data + at, from->column, n, m,
                         turned, pitch);
                continue;
            }
            for (int64_t l = 0; l < m; l++)
                mo_cpu_load_f32(from->data, from->elem, at + l * from->column,
                                1, n, part + l * SIDE);
            turn_f32(part, SIDE, n, m, turned, pitch);
        }
}
