/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/pointwise/math_f32.h"

#include <math.h>

#include "exec/backend/cpu/kernels/row_math.h"

/* Sums are kept in LANES lanes, which are vectorized. After a block the lanes
 * are added up in double, so that no float holds the sum of many. */
enum { LANES = 32, BLOCK = 1024 };

/* Pairwise, so that the sums do not wait for each other. */
MO_CPU_INLINE double add_lanes(const float *lane)
{
    double sums[LANES / 2];

    MO_CPU_FEW for (int l = 0; l < LANES / 2; l++) sums[l] =
        (double) lane[l] + (double) lane[l + LANES / 2];
    for (int half = LANES / 4; half > 0; half /= 2)
        MO_CPU_FEW for (int l = 0; l < half; l++) sums[l] += sums[l + half];
    return sums[0];
}

/* Sums of the expression value of x over a row of floats. */
#define SUM_F32(name, value)                                                   \
    MO_CPU_MULTIVERSION static double name(const float *row, float shift,      \
                                           int64_t n)                          \
    {                                                                          \
        double sum = 0;                                                        \
                                                                               \
        (void) shift;                                                          \
        for (int64_t begin = 0; begin < n; begin += BLOCK) {                   \
            int64_t end = begin + BLOCK < n ? begin + BLOCK : n, i = begin;    \
            float lane[LANES] = { 0 };                                         \
                                                                               \
            for (; i + LANES <= end; i += LANES)                               \
                MO_CPU_FEW for (int l = 0; l < LANES; l++)                     \
                {                                                              \
                    float x = row[i + l];                                      \
                    lane[l] += (value);                                        \
                }                                                              \
            for (int l = 0; i < end; i++, l++) {                               \
                float x = row[i];                                              \
                lane[l] += (value);                                            \
            }                                                                  \
            sum += add_lanes(lane);                                            \
        }                                                                      \
        return sum;                                                            \
    }

SUM_F32(sum_f32, x)
SUM_F32(squares_f32, (x - shift) * (x - shift))

MO_CPU_MULTIVERSION static float largest_f32(const float *row, int64_t n)
{
    float lane[LANES];
    int64_t i = 0;

    for (int l = 0; l < LANES; l++)
        lane[l] = -INFINITY;
    for (; i + LANES <= n; i += LANES)
        MO_CPU_FEW for (int l = 0; l < LANES; l++) lane[l] =
            row[i + l] > lane[l] ? row[i + l] : lane[l];
    for (int l = 0; i < n; i++, l++)
        lane[l] = row[i] > lane[l] ? row[i] : lane[l];
    for (int half = LANES / 2; half > 0; half /= 2)
        MO_CPU_FEW for (int l = 0; l < half; l++) lane[l] =
            lane[l + half] > lane[l] ? lane[l + half] : lane[l];
    return lane[0];
}

MO_CPU_MULTIVERSION static void scale_f32(const float *row, float *out,
                                          float shift, float factor, int64_t n)
{
    MO_CPU_IVDEP for (int64_t i = 0; i < n; i++) out[i] =
        (row[i] - shift) * factor;
}

MO_CPU_MULTIVERSION static void exp_f32(const float *row, float *out,
                                        float shift, int64_t n)
{
    MO_CPU_IVDEP for (int64_t i = 0; i < n; i++) out[i] =
        mo_cpu_exp_down_f32(row[i] - shift);
}

static double sum_row_f32(const void *row, int64_t n)
{
    return sum_f32(row, 0, n);
}

static double squares_row_f32(const void *row, double shift, int64_t n)
{
    return squares_f32(row, (float) shift, n);
}

static double largest_row_f32(const void *row, int64_t n)
{
    return largest_f32(row, n);
}

static void scale_row_f32(const void *row, void *out, double shift,
                          double factor, int64_t n)
{
    scale_f32(row, out, (float) shift, (float) factor, n);
}

static void exp_row_f32(const void *row, void *out, double shift, int64_t n)
{
    exp_f32(row, out, (float) shift, n);
}

static double sum_row_f64(const void *row, int64_t n)
{
    const double *x = row;
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static double squares_row_f64(const void *row, double shift, int64_t n)
{
    const double *x = row;
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - shift) * (x[i] - shift);
    return sum;
}

static double largest_row_f64(const void *row, int64_t n)
{
    const double *x = row;
    double most = -INFINITY;

    for (int64_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

static void scale_row_f64(const void *row, void *out, double shift,
                          double factor, int64_t n)
{
    const double *x = row;
    double *to = out;

    for (int64_t i = 0; i < n; i++)
        to[i] = (x[i] - shift) * factor;
}

static void exp_row_f64(const void *row, void *out, double shift, int64_t n)
{
    const double *x = row;
    double *to = out;

    for (int64_t i = 0; i < n; i++)
        to[i] = exp(x[i] - shift);
}

const mo_cpu_row_math *mo_cpu_row_math_for(bool wide)
{
    static const mo_cpu_row_math math[2] = {
        { sizeof(float), sum_row_f32, squares_row_f32, largest_row_f32,
          scale_row_f32, exp_row_f32 },
        { sizeof(double), sum_row_f64, squares_row_f64, largest_row_f64,
          scale_row_f64, exp_row_f64 },
    };

    return &math[wide];
}
