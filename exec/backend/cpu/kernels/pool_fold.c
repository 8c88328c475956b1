/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds of windows: a block of adjacent lanes stays in registers while the
 * elements of their windows, the taps, are traversed. Lanes are the channels of
 * a pixel (NHWC), or the elements of a row (NCHW). Where windows are long and
 * lanes are few, the taps are the lanes.
 */
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/kernels/cpu_pool.h"

enum { AT_ONCE = 32, TREE = 16 };

/* A NaN is the maximum, as of Maximum. */
#define LARGER(a, b) ((((b) > (a)) | ((b) != (b))) ? (b) : (a))
#define FOLDED(a, b) (average ? (a) + (b) : LARGER(a, b))

/* n lanes; called with constants n and stride for the full blocks. */
#define FOLD(name, type)                                                       \
    MO_CPU_INLINE void name##_block(const mo_cpu_pool_taps *t, bool average,   \
                                    const type *first, int64_t stride, int n,  \
                                    type *to)                                  \
    {                                                                          \
        type kept[AT_ONCE], factor = (type) t->factor;                         \
                                                                               \
        MO_CPU_FEW                                                             \
        for (int j = 0; j < n; j++)                                            \
            kept[j] = (type) t->start;                                         \
        for (int64_t a = 0; a < t->count[0]; a++)                              \
            for (int64_t b = 0; b < t->count[1]; b++)                          \
                for (int64_t c = 0; c < t->count[2]; c++) {                    \
                    const type *x = first + a * t->step[0] + b * t->step[1] +  \
                                    c * t->step[2];                            \
                                                                               \
                    MO_CPU_FEW                                                 \
                    for (int j = 0; j < n; j++)                                \
                        kept[j] = FOLDED(kept[j], x[j * stride]);              \
                }                                                              \
        MO_CPU_FEW                                                             \
        for (int j = 0; j < n; j++)                                            \
            to[j] = average ? kept[j] * factor : kept[j];                      \
    }                                                                          \
    /* Blocks of size lanes; the last one may overlap the one before it. */    \
    MO_CPU_INLINE void name##_blocks(const mo_cpu_pool_taps *t, bool average,  \
                                     const type *x, int64_t stride, int size,  \
                                     int64_t n, type *to)                      \
    {                                                                          \
        for (int64_t i = 0; i < n; i += size) {                                \
            i = i + size <= n ? i : n - size;                                  \
            name##_block(t, average, x + i * stride, stride, size, to + i);    \
        }                                                                      \
    }                                                                          \
    /* One lane, whose taps are adjacent. */                                   \
    MO_CPU_INLINE type name##_row(const mo_cpu_pool_taps *t, bool average,     \
                                  const type *x)                               \
    {                                                                          \
        int64_t n = t->count[2], i = 0;                                        \
        type kept[TREE];                                                       \
                                                                               \
        MO_CPU_FEW                                                             \
        for (int j = 0; j < TREE; j++)                                         \
            kept[j] = (type) t->start;                                         \
        for (; i + TREE <= n; i += TREE)                                       \
            MO_CPU_FEW                                                         \
        for (int j = 0; j < TREE; j++)                                         \
            kept[j] = FOLDED(kept[j], x[i + j]);                               \
        for (int j = 0; i < n; i++, j++)                                       \
            kept[j] = FOLDED(kept[j], x[i]);                                   \
        for (int half = TREE / 2; half > 0; half /= 2)                         \
            MO_CPU_FEW                                                         \
        for (int j = 0; j < half; j++)                                         \
            kept[j] = FOLDED(kept[j], kept[j + half]);                         \
        return average ? kept[0] * (type) t->factor : kept[0];                 \
    }                                                                          \
    MO_CPU_INLINE void name##_lanes(const mo_cpu_pool_taps *t, bool average,   \
                                    const type *x, int64_t stride, int64_t n,  \
                                    type *to)                                  \
    {                                                                          \
        for (int64_t line = 0; line < t->lines; line++) {                      \
            if (n >= AT_ONCE)                                                  \
                name##_blocks(t, average, x, stride, AT_ONCE, n, to);          \
            else if (n >= AT_ONCE / 2)                                         \
                name##_blocks(t, average, x, stride, AT_ONCE / 2, n, to);      \
            else if (n >= AT_ONCE / 4)                                         \
                name##_blocks(t, average, x, stride, AT_ONCE / 4, n, to);      \
            else if (n >= AT_ONCE / 8)                                         \
                name##_blocks(t, average, x, stride, AT_ONCE / 8, n, to);      \
            else                                                               \
                name##_block(t, average, x, stride, (int) n, to);              \
            x += t->from_line;                                                 \
            to += t->to_line;                                                  \
        }                                                                      \
    }                                                                          \
    MO_CPU_INLINE void name##_any(const mo_cpu_pool_taps *t, bool average,     \
                                  const type *x, int64_t n, type *to)          \
    {                                                                          \
        if (t->count[2] >= TREE && n < TREE / 2 && t->step[2] == 1 &&          \
            t->count[0] * t->count[1] == 1)                                    \
            for (int64_t line = 0; line < t->lines; line++)                    \
                for (int64_t i = 0; i < n; i++)                                \
                    to[line * t->to_line + i] = name##_row(                    \
                        t, average, x + line * t->from_line + i * t->stride);  \
        else if (t->stride == 1)                                               \
            name##_lanes(t, average, x, 1, n, to);                             \
        else if (t->stride == 2)                                               \
            name##_lanes(t, average, x, 2, n, to);                             \
        else                                                                   \
            name##_lanes(t, average, x, t->stride, n, to);                     \
    }                                                                          \
    MO_CPU_MULTIVERSION static void name##_max(                                \
        const mo_cpu_pool_taps *t, const void *first, int64_t n, void *to)     \
    {                                                                          \
        name##_any(t, false, first, n, to);                                    \
    }                                                                          \
    MO_CPU_MULTIVERSION static void name##_sum(                                \
        const mo_cpu_pool_taps *t, const void *first, int64_t n, void *to)     \
    {                                                                          \
        name##_any(t, true, first, n, to);                                     \
    }

FOLD(fold_f32, float)
FOLD(fold_f64, double)

mo_cpu_pool_fold_fn *mo_cpu_pool_fold_fn_for(bool average, bool wide)
{
    if (wide)
        return average ? fold_f64_sum : fold_f64_max;
    return average ? fold_f32_sum : fold_f32_max;
}
