#include "exec/backend/cpu/pointwise/math_f32.h"

#include <float.h>
#include <math.h>

#define REAL          float
#define LARGEST       FLT_MAX
#define TABLE         mo_point_fn_f32
#define MATH(name)    name##f
#define CURVE(name)   curve_##name
#define curve_exp     mo_exp32
#define curve_log     mo_log32
#define curve_tanh    mo_tanh32
#define curve_erf     mo_erf32
#define curve_sigmoid mo_sigmoid32

#define curve_softplus  mo_softplus32
#define curve_mish      mo_mish32
#define curve_gelu      mo_gelu32
#define curve_gelu_tanh mo_gelu_tanh32
#define curve_expm1     mo_expm1_32

#define BOUNDED(x, least, most) bounded(x, least, most)

/* NaN stays. */
MO_INLINE float bounded(float x, float least, float most)
{
    float risen = x < least ? least : x;

    return risen > most ? most : risen;
}

#include "exec/backend/cpu/pointwise/steps_real.inc"
