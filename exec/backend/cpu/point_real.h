/*
 * point_real.h - the steps on reals, written once for two types.
 *
 * Whoever includes this has defined REAL (the type), TABLE (the function to be
 * made), and MATH(f), the name of the library's function f for that type.
 * Functions with a faster way for floats are CURVE(f).
 */
#include "exec/backend/cpu/clones.h"
#include "exec/backend/cpu/point_step.h"

#define STEP(name)                                                             \
    MO_CLONES static void name(const mo_point_step *step, const void *in_a,    \
                               const void *in_b, const void *in_c, void *to,   \
                               int n)

/* One real x; the numbers of the step are p and q. */
#define UNARY(name, value)                                                     \
    STEP(name)                                                                 \
    {                                                                          \
        const REAL *a = in_a, p = (REAL) step->x, q = (REAL) step->y;          \
        REAL *out = to;                                                        \
                                                                               \
        (void) in_b, (void) in_c, (void) p, (void) q;                          \
        MO_LOOP for (int i = 0; i < n; i++)                                    \
        {                                                                      \
            REAL x = a[i];                                                     \
            out[i] = (value);                                                  \
        }                                                                      \
    }

/* Two reals x and y; what comes out is a real, or an integer. */
#define BINARY_TO(name, type, value)                                           \
    STEP(name)                                                                 \
    {                                                                          \
        const REAL *a = in_a, *b = in_b;                                       \
        type *out = to;                                                        \
                                                                               \
        (void) step, (void) in_c;                                              \
        MO_LOOP for (int i = 0; i < n; i++)                                    \
        {                                                                      \
            REAL x = a[i], y = b[i];                                           \
            out[i] = (value);                                                  \
        }                                                                      \
    }
#define BINARY(name, value)      BINARY_TO(name, REAL, value)
#define TEST_OF_TWO(name, value) BINARY_TO(name, int64_t, value)

#define TEST_OF_ONE(name, value)                                               \
    STEP(name)                                                                 \
    {                                                                          \
        const REAL *a = in_a;                                                  \
        int64_t *out = to;                                                     \
                                                                               \
        (void) step, (void) in_b, (void) in_c;                                 \
        MO_LOOP for (int i = 0; i < n; i++)                                    \
        {                                                                      \
            REAL x = a[i];                                                     \
            out[i] = (value);                                                  \
        }                                                                      \
    }

/* Cut towards zero; what no int64 can be is the least one, as x86 has it. */
MO_INLINE int64_t truncate_real(REAL x)
{
    bool fits = x >= (REAL) -0x1p63 && x < (REAL) 0x1p63;

    return fits ? (int64_t) x : INT64_MIN;
}

/* Halves away from zero: the largest real below a half does not carry one of
 * these over. */
MO_INLINE REAL round_away(REAL x)
{
    REAL half = (REAL) 0.5, whole = MATH(trunc)(x);
    REAL rest = MATH(fabs)(x - whole);

    return rest >= half ? whole + MATH(copysign)(1, x) : whole;
}

/* The rest has the sign of y. */
MO_INLINE REAL floor_mod(REAL x, REAL y)
{
    REAL rest = MATH(fmod)(x, y);

    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

UNARY(step_abs, MATH(fabs)(x))
UNARY(step_negate, -x)
UNARY(step_exp, CURVE(exp)(x))
UNARY(step_log, CURVE(log)(x))
UNARY(step_sqrt, MATH(sqrt)(x))
UNARY(step_sin, MATH(sin)(x))
UNARY(step_cos, MATH(cos)(x))
UNARY(step_tan, MATH(tan)(x))
UNARY(step_asin, MATH(asin)(x))
UNARY(step_acos, MATH(acos)(x))
UNARY(step_atan, MATH(atan)(x))
UNARY(step_sinh, MATH(sinh)(x))
UNARY(step_cosh, MATH(cosh)(x))
UNARY(step_tanh, CURVE(tanh)(x))
UNARY(step_asinh, MATH(asinh)(x))
UNARY(step_acosh, MATH(acosh)(x))
UNARY(step_atanh, MATH(atanh)(x))
UNARY(step_erf, CURVE(erf)(x))
UNARY(step_floor, MATH(floor)(x))
UNARY(step_ceiling, MATH(ceil)(x))
UNARY(step_round_even, MATH(rint)(x))
UNARY(step_round_away, round_away(x))
UNARY(step_sign, x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x)
UNARY(step_reciprocal, 1 / x)
UNARY(step_sigmoid, CURVE(sigmoid)(x))
UNARY(step_softplus, CURVE(softplus)(x))
UNARY(step_softsign, x / (1 + MATH(fabs)(x)))
UNARY(step_mish, CURVE(mish)(x))
UNARY(step_gelu_erf, CURVE(gelu)(x))
UNARY(step_gelu_tanh, CURVE(gelu_tanh)(x))
UNARY(step_hswish, BOUNDED(x + 3, 0, 6) / 6 * x)
UNARY(step_hsigmoid, BOUNDED(x + 3, 0, 6) / 6)
UNARY(step_relu, x < 0 ? 0 : x)
UNARY(step_clamp, BOUNDED(x, p, q))
UNARY(step_elu, x < 0 ? p * CURVE(expm1)(x) : x)
UNARY(step_selu, (x < 0 ? p * CURVE(expm1)(x) : x) * q)
UNARY(step_leaky, x < 0 ? p * x : x)
UNARY(step_swish, (x) *CURVE(sigmoid)(p *x))
UNARY(step_hard_sigmoid, BOUNDED(p *x + q, 0, 1))
UNARY(step_affine, (p * x) + q)

BINARY(step_add, x + y)
BINARY(step_subtract, x - y)
BINARY(step_multiply, (x * y))
BINARY(step_divide, x / y)
BINARY(step_power, MATH(pow)(x, y))
BINARY(step_maximum, x < y ? y : x)
BINARY(step_minimum, y < x ? y : x)
BINARY(step_mod, MATH(fmod)(x, y))
BINARY(step_floor_mod, floor_mod(x, y))
BINARY(step_squared_difference, (x - y) * (x - y))
BINARY(step_atan2, MATH(atan2)(x, y))
BINARY(step_prelu, x < 0 ? x * y : x)

TEST_OF_TWO(step_equal, x == y)
TEST_OF_TWO(step_not_equal, x != y)
TEST_OF_TWO(step_less, x < y)
TEST_OF_TWO(step_less_equal, x <= y)
TEST_OF_TWO(step_greater, x > y)
TEST_OF_TWO(step_greater_equal, x >= y)
TEST_OF_ONE(step_is_nan, x != x)
TEST_OF_ONE(step_is_inf, MATH(fabs)(x) > LARGEST)
TEST_OF_ONE(step_is_finite, MATH(fabs)(x) <= LARGEST)
TEST_OF_ONE(step_truncate, truncate_real(x))

STEP(step_to_real)
{
    const int64_t *a = in_a;
    REAL *out = to;

    (void) step, (void) in_b, (void) in_c;
    for (int i = 0; i < n; i++)
        out[i] = (REAL) a[i];
}

STEP(step_select)
{
    const int64_t *a = in_a;
    const REAL *b = in_b, *c = in_c;
    REAL *out = to;

    (void) step;
    for (int i = 0; i < n; i++)
        out[i] = a[i] ? b[i] : c[i];
}

/* What storing and loading would do: halves are made from floats. */
STEP(step_round_to)
{
    const REAL *a = in_a;
    REAL *out = to;

    (void) in_b, (void) in_c;
    for (int i = 0; i < n; i++) {
        float x = (float) a[i];

        out[i] = step->elem == MO_F16    ? mo_float_of_f16(mo_f16_of_float(x))
                 : step->elem == MO_BF16 ? mo_float_of_bf16(mo_bf16_of_float(x))
                 : step->elem == MO_F32  ? x
                                         : a[i];
    }
}

mo_point_fn *TABLE(mo_point_op op)
{
    static mo_point_fn *const table[MO_POINT_OPS] = {
        [MO_POINT_ABS] = step_abs,
        [MO_POINT_NEGATE] = step_negate,
        [MO_POINT_EXP] = step_exp,
        [MO_POINT_LOG] = step_log,
        [MO_POINT_SQRT] = step_sqrt,
        [MO_POINT_SIN] = step_sin,
        [MO_POINT_COS] = step_cos,
        [MO_POINT_TAN] = step_tan,
        [MO_POINT_ASIN] = step_asin,
        [MO_POINT_ACOS] = step_acos,
        [MO_POINT_ATAN] = step_atan,
        [MO_POINT_SINH] = step_sinh,
        [MO_POINT_COSH] = step_cosh,
        [MO_POINT_TANH] = step_tanh,
        [MO_POINT_ASINH] = step_asinh,
        [MO_POINT_ACOSH] = step_acosh,
        [MO_POINT_ATANH] = step_atanh,
        [MO_POINT_ERF] = step_erf,
        [MO_POINT_FLOOR] = step_floor,
        [MO_POINT_CEILING] = step_ceiling,
        [MO_POINT_ROUND_EVEN] = step_round_even,
        [MO_POINT_ROUND_AWAY] = step_round_away,
        [MO_POINT_SIGN] = step_sign,
        [MO_POINT_RECIPROCAL] = step_reciprocal,
        [MO_POINT_SIGMOID] = step_sigmoid,
        [MO_POINT_SOFTPLUS] = step_softplus,
        [MO_POINT_SOFTSIGN] = step_softsign,
        [MO_POINT_MISH] = step_mish,
        [MO_POINT_GELU_ERF] = step_gelu_erf,
        [MO_POINT_GELU_TANH] = step_gelu_tanh,
        [MO_POINT_HSWISH] = step_hswish,
        [MO_POINT_HSIGMOID] = step_hsigmoid,
        [MO_POINT_RELU] = step_relu,
        [MO_POINT_CLAMP] = step_clamp,
        [MO_POINT_ELU] = step_elu,
        [MO_POINT_SELU] = step_selu,
        [MO_POINT_LEAKY] = step_leaky,
        [MO_POINT_SWISH] = step_swish,
        [MO_POINT_HARD_SIGMOID] = step_hard_sigmoid,
        [MO_POINT_AFFINE] = step_affine,
        [MO_POINT_ROUND_TO] = step_round_to,
        [MO_POINT_ADD] = step_add,
        [MO_POINT_SUBTRACT] = step_subtract,
        [MO_POINT_MULTIPLY] = step_multiply,
        [MO_POINT_DIVIDE] = step_divide,
        [MO_POINT_POWER] = step_power,
        [MO_POINT_MAXIMUM] = step_maximum,
        [MO_POINT_MINIMUM] = step_minimum,
        [MO_POINT_MOD] = step_mod,
        [MO_POINT_FLOOR_MOD] = step_floor_mod,
        [MO_POINT_SQUARED_DIFFERENCE] = step_squared_difference,
        [MO_POINT_ATAN2] = step_atan2,
        [MO_POINT_PRELU] = step_prelu,
        [MO_POINT_EQUAL] = step_equal,
        [MO_POINT_NOT_EQUAL] = step_not_equal,
        [MO_POINT_LESS] = step_less,
        [MO_POINT_LESS_EQUAL] = step_less_equal,
        [MO_POINT_GREATER] = step_greater,
        [MO_POINT_GREATER_EQUAL] = step_greater_equal,
        [MO_POINT_IS_NAN] = step_is_nan,
        [MO_POINT_IS_INF] = step_is_inf,
        [MO_POINT_IS_FINITE] = step_is_finite,
        [MO_POINT_TRUNCATE] = step_truncate,
        [MO_POINT_TO_REAL] = step_to_real,
        [MO_POINT_SELECT] = step_select,
    };

    return table[op];
}
