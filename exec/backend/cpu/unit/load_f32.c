/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/unit/load_f32.h"

#include <assert.h>
#include <string.h>

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

static void load_f16(const uint16_t *from, int64_t stride, int64_t n, float *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = mo_f16_to_f32(from[i * stride]);
}

static void load_bf16(const uint16_t *from, int64_t stride, int64_t n,
                      float *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = mo_bf16_to_f32(from[i * stride]);
}

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

    if (from->elem != MO_ELEM_F32 || from->row != 1 || from->column == 1) {
        for (int64_t i = 0; i < rows; i++)
            mo_cpu_load_f32(from->data, from->elem, from->at + i * from->row,
                            from->column, columns, to + i * pitch);
        return;
    }
    for (int64_t i = 0; i < rows; i += SIDE)
        for (int64_t j = 0; j < columns; j += SIDE)
            turn_f32((const float *) from->data + from->at + i +
                         j * from->column,
                     from->column, rows - i < SIDE ? rows - i : SIDE,
                     columns - j < SIDE ? columns - j : SIDE,
                     to + i * pitch + j, pitch);
}
