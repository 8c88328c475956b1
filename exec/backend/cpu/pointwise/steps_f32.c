/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise steps on floats: steps_real.inc with the functions of math_f32.h.
 */
#include "exec/backend/cpu/pointwise/math_f32.h"

#include <float.h>
#include <math.h>

#define REAL          float
#define LARGEST       FLT_MAX
#define TABLE         mo_cpu_step_fn_f32
#define MATH(name)    name##f
#define CURVE(name)   curve_##name
#define curve_exp     mo_cpu_exp_f32
#define curve_log     mo_cpu_log_f32
#define curve_tanh    mo_cpu_tanh_f32
#define curve_erf     mo_cpu_erf_f32
#define curve_asin    mo_cpu_asin_f32
#define curve_acos    mo_cpu_acos_f32
#define curve_atan    mo_cpu_atan_f32
#define curve_sigmoid mo_cpu_sigmoid_f32

#define curve_softplus  mo_cpu_softplus_f32
#define curve_mish      mo_cpu_mish_f32
#define curve_gelu      mo_cpu_gelu_f32
#define curve_gelu_tanh mo_cpu_gelu_tanh_f32
#define curve_expm1     mo_cpu_expm1_f32

#define BOUNDED(x, least, most) bounded(x, least, most)

/* NaN is kept. */
MO_CPU_INLINE float bounded(float x, float least, float most)
{
    float risen = x < least ? least : x;

    return risen > most ? most : risen;
}

#include "exec/backend/cpu/pointwise/steps_real.inc"
