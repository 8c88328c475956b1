/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/unit/multiversion.h"

#include <math.h>

#include "exec/backend/cpu/kernels/reducer.h"

/* Fixed number of accumulators, independent of the vector length. */
enum { LANES = 16 };

/*
 * part: the contribution of an element x; both: combines two accumulators a
 * and b. Rows are accumulated in LANES lanes that begin with the neutral
 * element nothing.
 */
#define FOLD(name, type, wide, member, nothing, part, both)                    \
    MO_CPU_MULTIVERSION static void name##_row(                                \
        const void *row, mo_cpu_accumulator *gathered, int n)                  \
    {                                                                          \
        const type *in = row;                                                  \
        wide lane[LANES], a, b;                                                \
        int i = 0;                                                             \
                                                                               \
        for (int l = 0; l < LANES; l++)                                        \
            lane[l] = (nothing);                                               \
        for (; i + LANES <= n; i += LANES)                                     \
            for (int l = 0; l < LANES; l++) {                                  \
                type x = in[i + l];                                            \
                a = lane[l];                                                   \
                b = (wide) (part);                                             \
                lane[l] = (both);                                              \
            }                                                                  \
        for (int l = 0; i < n; i++, l++) {                                     \
            type x = in[i];                                                    \
            a = lane[l];                                                       \
            b = (wide) (part);                                                 \
            lane[l] = (both);                                                  \
        }                                                                      \
        a = gathered->member;                                                  \
        for (int l = 0; l < LANES; l++) {                                      \
            b = lane[l];                                                       \
            a = (both);                                                        \
        }                                                                      \
        gathered->member = a;                                                  \
    }                                                                          \
    MO_CPU_MULTIVERSION static void name##_each(                               \
        const void *row, mo_cpu_accumulator *gathered, int n)                  \
    {                                                                          \
        const type *in = row;                                                  \
                                                                               \
        MO_CPU_IVDEP for (int i = 0; i < n; i++)                               \
        {                                                                      \
            type x = in[i];                                                    \
            wide a = gathered[i].member, b = (wide) (part);                    \
            gathered[i].member = (both);                                       \
        }                                                                      \
    }                                                                          \
    static const mo_cpu_reducer name = { { .member = (nothing) },              \
                                         name##_row,                           \
                                         name##_each };

#define FOLD_REAL(name, nothing, part, both)                                   \
    FOLD(name##_f32, float, double, real, nothing, part, both)                 \
    FOLD(name##_f64, double, double, real, nothing, part, both)

#define FOLD_INT(name, nothing, part, both)                                    \
    FOLD(name##_int, int64_t, int64_t, integer, nothing, part, both)

/* Wraps around like unsigned integers. */
#define PLUS(a, b)  ((int64_t) ((uint64_t) (a) + (uint64_t) (b)))
#define TIMES(a, b) ((int64_t) ((uint64_t) (a) * (uint64_t) (b)))

FOLD_REAL(sum, 0, x, a + b)
FOLD_REAL(prod, 1, x, (a * b))
FOLD_REAL(l1, 0, fabs((double) x), a + b)
FOLD_REAL(l2, 0, (double) x *(double) x, a + b)
/* A NaN is the result, as in IEEE 754-2019 maximum and minimum. */
FOLD_REAL(most, -INFINITY, x, b > a || isnan(b) ? b : a)
FOLD_REAL(least, INFINITY, x, b < a || isnan(b) ? b : a)
FOLD_REAL(all, 1, x != 0, (a != 0 && b != 0))
FOLD_REAL(any, 0, x != 0, (a != 0 || b != 0))

FOLD_INT(sum, 0, x, PLUS(a, b))
FOLD_INT(prod, 1, x, TIMES(a, b))
FOLD_INT(l1, 0, x < 0 ? PLUS(~x, 1) : x, PLUS(a, b))
FOLD_INT(l2, 0, TIMES(x, x), PLUS(a, b))
FOLD_INT(most, INT64_MIN, x, b > a ? b : a)
FOLD_INT(least, INT64_MAX, x, b < a ? b : a)
FOLD_INT(all, 1, x != 0, (a & b))
FOLD_INT(any, 0, x != 0, (a | b))

const mo_cpu_reducer *mo_cpu_reducer_find(mo_call_reduce_op op,
                                          mo_cpu_reducer_type type)
{
    static const mo_cpu_reducer *const folds[][3] = {
        [MO_CALL_REDUCE_SUM] = { &sum_f32, &sum_f64, &sum_int },
        [MO_CALL_REDUCE_MEAN] = { &sum_f32, &sum_f64, &sum_int },
        [MO_CALL_REDUCE_MAX] = { &most_f32, &most_f64, &most_int },
        [MO_CALL_REDUCE_MIN] = { &least_f32, &least_f64, &least_int },
        [MO_CALL_REDUCE_PROD] = { &prod_f32, &prod_f64, &prod_int },
        [MO_CALL_REDUCE_L1] = { &l1_f32, &l1_f64, &l1_int },
        [MO_CALL_REDUCE_L2] = { &l2_f32, &l2_f64, &l2_int },
        [MO_CALL_REDUCE_AND] = { &all_f32, &all_f64, &all_int },
        [MO_CALL_REDUCE_OR] = { &any_f32, &any_f64, &any_int },
    };

    return folds[op][type];
}

double mo_cpu_reducer_finish(mo_call_reduce_op op, double gathered,
                             int64_t count)
{
    if (op == MO_CALL_REDUCE_MEAN)
        return gathered / (double) count;
    return op == MO_CALL_REDUCE_L2 ? sqrt(gathered) : gathered;
}

int64_t mo_cpu_reducer_finish_int(mo_call_reduce_op op, int64_t gathered,
                                  int64_t count)
{
    if (op == MO_CALL_REDUCE_MEAN)
        return count > 0 ? gathered / count : 0;
    if (op == MO_CALL_REDUCE_L2)
        return gathered > 0 ? (int64_t) sqrt((double) gathered) : 0;
    return gathered;
}
