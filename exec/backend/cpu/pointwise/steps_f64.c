/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise steps on doubles: steps_real.inc with the functions of the C
 * library.
 */
#include "exec/backend/cpu/unit/multiversion.h"

#include <float.h>
#include <math.h>

#include "exec/tensor/half.h"

#define REAL       double
#define LARGEST    DBL_MAX
#define TABLE      mo_cpu_step_fn_f64
#define MATH(name) name

/* Functions of the math library, and those it lacks. */
#define CURVE(name) curve_##name
#define curve_exp   exp
#define curve_log   log
#define curve_tanh  tanh
#define curve_erf   erf
#define curve_expm1 expm1
#define curve_asin  asin
#define curve_acos  acos
#define curve_atan  atan

#define BOUNDED(x, least, most) clamp_f64(x, least, most)

/* NaN is kept. */
static inline double clamp_f64(double x, double least, double most)
{
    double risen = x < least ? least : x;

    return risen > most ? most : risen;
}

static inline double curve_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double curve_softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static inline double curve_mish(double x)
{
    return x * tanh(curve_softplus(x));
}

static inline double curve_gelu(double x)
{
    return 0.5 * x * erfc(-x * sqrt(0.5));
}

static inline double curve_gelu_tanh(double x)
{
    double u = sqrt(8 / acos(-1.0)) * (x + 0.044715 * x * x * x);

    return x * curve_sigmoid(u);
}

#include "exec/backend/cpu/pointwise/steps_real.inc"
