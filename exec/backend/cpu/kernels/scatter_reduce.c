/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/scatter_reduce.h"

#include <math.h>
#include <string.h>

#include "exec/tensor/dense_tensor.h"
#include "exec/tensor/half.h"

/* Comparisons with NaN are false: the left operand stays. */
#define MERGE_LOOP(type, sum, difference, product)                             \
    do {                                                                       \
        type *to = data;                                                       \
        const type *from = updates;                                            \
                                                                               \
        for (int64_t i = 0; i < count; i++)                                    \
            switch (op) {                                                      \
            case MO_CPU_SCATTER_REDUCE_ZERO:                                   \
                to[i] = 0;                                                     \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_ONE:                                    \
                to[i] = 1;                                                     \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_SET:                                    \
                to[i] = from[i];                                               \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_SUM:                                    \
                to[i] = (type) (sum);                                          \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_SUB:                                    \
                to[i] = (type) (difference);                                   \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_PROD:                                   \
                to[i] = (type) (product);                                      \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_MIN:                                    \
                to[i] = from[i] < to[i] ? from[i] : to[i];                     \
                break;                                                         \
            case MO_CPU_SCATTER_REDUCE_MAX:                                    \
                to[i] = from[i] > to[i] ? from[i] : to[i];                     \
                break;                                                         \
            }                                                                  \
    } while (0)

#define MERGE_REALS(type)                                                      \
    MERGE_LOOP(type, to[i] + from[i], to[i] - from[i], to[i] * from[i])

/* Computed in unsigned integers, which wrap around. */
#define MERGE_INTEGERS(type)                                                   \
    MERGE_LOOP(type, (uint64_t) to[i] + (uint64_t) from[i],                    \
               (uint64_t) to[i] - (uint64_t) from[i],                          \
               (uint64_t) to[i] * (uint64_t) from[i])

static void merge_f32(mo_cpu_scatter_reduce_op op, void *data,
                      const void *updates, int64_t count)
{
    MERGE_REALS(float);
}

static void merge_f64(mo_cpu_scatter_reduce_op op, void *data,
                      const void *updates, int64_t count)
{
    MERGE_REALS(double);
}

static float load_half(mo_elem elem, uint16_t half)
{
    return elem == MO_ELEM_F16 ? mo_f16_to_f32(half) : mo_bf16_to_f32(half);
}

/* Every step is rounded to the element type. */
static void merge_halves(mo_cpu_scatter_reduce_op op, mo_elem elem,
                         uint16_t *data, const uint16_t *updates, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float to = load_half(elem, data[i]), from = load_half(elem, updates[i]);

        merge_f32(op, &to, &from, 1);
        data[i] = elem == MO_ELEM_F16 ? mo_f32_to_f16(to) : mo_f32_to_bf16(to);
    }
}

static mo_cpu_scatter_reduce_op of_booleans(mo_cpu_scatter_reduce_op op)
{
    if (op == MO_CPU_SCATTER_REDUCE_SUM)
        return MO_CPU_SCATTER_REDUCE_MAX;
    return op == MO_CPU_SCATTER_REDUCE_PROD ? MO_CPU_SCATTER_REDUCE_MIN : op;
}

static void merge_integers(mo_cpu_scatter_reduce_op op, mo_elem elem,
                           void *data, const void *updates, int64_t count)
{
    switch (elem) {
    case MO_ELEM_I64:
        MERGE_INTEGERS(int64_t);
        break;
    case MO_ELEM_I32:
        MERGE_INTEGERS(int32_t);
        break;
    case MO_ELEM_I16:
        MERGE_INTEGERS(int16_t);
        break;
    case MO_ELEM_I8:
        MERGE_INTEGERS(int8_t);
        break;
    case MO_ELEM_U64:
        MERGE_INTEGERS(uint64_t);
        break;
    case MO_ELEM_U32:
        MERGE_INTEGERS(uint32_t);
        break;
    case MO_ELEM_U16:
        MERGE_INTEGERS(uint16_t);
        break;
    default:
        MERGE_INTEGERS(uint8_t);
    }
}

void mo_cpu_scatter_reduce(mo_cpu_scatter_reduce_op op, mo_elem elem,
                           void *data, const void *updates, int64_t count)
{
    if (op == MO_CPU_SCATTER_REDUCE_SET)
        memcpy(data, updates, (size_t) count * mo_elem_size(elem));
    else if (elem == MO_ELEM_F32)
        merge_f32(op, data, updates, count);
    else if (elem == MO_ELEM_F64)
        merge_f64(op, data, updates, count);
    else if (mo_elem_is_float(elem))
        merge_halves(op, elem, data, updates, count);
    else
        merge_integers(elem == MO_ELEM_BOOL ? of_booleans(op) : op, elem, data,
                       updates, count);
}

void mo_cpu_scatter_divide(mo_elem elem, void *data, int64_t i, int64_t by)
{
    mo_tensor_dense dense = { { elem, { 0 } }, data, false };
    int64_t whole;

    if (mo_elem_is_float(elem)) {
        mo_tensor_set_double(&dense, i,
                             mo_tensor_get_double(&dense, i) / (double) by);
        return;
    }
    whole = mo_tensor_get_int(&dense, i);
    mo_tensor_set_int(
        &dense, i, whole / by - (whole % by != 0 && (whole < 0) != (by < 0)));
}
