/* SPDX-License-Identifier: Apache-2.0 */
/* The steps on integers: all in 64 bits, around the end like unsigned ones. */
#include "exec/backend/cpu/unit/multiversion.h"

#include <math.h>

#include "exec/backend/cpu/pointwise/steps.h"

#define STEP(name)                                                             \
    MO_CPU_MULTIVERSION static void name(const mo_point_step *step,            \
                                         const void *in_a, const void *in_b,   \
                                         const void *in_c, void *to, int n)

/* One integer x, also as u without a sign. */
#define UNARY(name, value)                                                     \
    STEP(name)                                                                 \
    {                                                                          \
        const int64_t *a = in_a;                                               \
        int64_t *out = to;                                                     \
                                                                               \
        (void) step, (void) in_b, (void) in_c;                                 \
        MO_CPU_IVDEP for (int i = 0; i < n; i++)                               \
        {                                                                      \
            int64_t x = a[i];                                                  \
            uint64_t u = (uint64_t) x;                                         \
            (void) u;                                                          \
            out[i] = (int64_t) (value);                                        \
        }                                                                      \
    }

/* Two, x and y, also as u and v. */
#define BINARY(name, value)                                                    \
    STEP(name)                                                                 \
    {                                                                          \
        const int64_t *a = in_a, *b = in_b;                                    \
        int64_t *out = to;                                                     \
                                                                               \
        (void) step, (void) in_c;                                              \
        MO_CPU_IVDEP for (int i = 0; i < n; i++)                               \
        {                                                                      \
            int64_t x = a[i], y = b[i];                                        \
            uint64_t u = (uint64_t) x, v = (uint64_t) y;                       \
            (void) u, (void) v;                                                \
            out[i] = (int64_t) (value);                                        \
        }                                                                      \
    }

MO_CPU_INLINE int64_t quotient(int64_t x, int64_t y)
{
    if (y == 0)
        return 0;
    return y == -1 ? (int64_t) (0 - (uint64_t) x) : x / y;
}

MO_CPU_INLINE int64_t rest(int64_t x, int64_t y)
{
    return y == 0 || y == -1 ? 0 : x % y;
}

MO_CPU_INLINE int64_t floor_quotient(int64_t x, int64_t y)
{
    int64_t r = rest(x, y);

    return quotient(x, y) - (r != 0 && (r < 0) != (y < 0));
}

MO_CPU_INLINE int64_t floor_rest(int64_t x, int64_t y)
{
    int64_t r = rest(x, y);

    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* One over what is not 1 or -1 is 0. */
static int64_t power(int64_t x, int64_t y)
{
    uint64_t result = 1, square = (uint64_t) x;

    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y > 0; y >>= 1, square *= square)
        if (y & 1)
            result *= square;
    return (int64_t) result;
}

UNARY(step_abs, x < 0 ? 0 - u : u)
UNARY(step_negate, 0 - u)
UNARY(step_sign, (x > 0) - (x < 0))
UNARY(step_not, x == 0)
UNARY(step_bits_not, ~u)
UNARY(step_relu, x < 0 ? 0 : x)

BINARY(step_add, u + v)
BINARY(step_subtract, u - v)
BINARY(step_multiply, (u * v))
BINARY(step_divide, quotient(x, y))
BINARY(step_floor_divide, floor_quotient(x, y))
BINARY(step_power, power(x, y))
BINARY(step_maximum, x < y ? y : x)
BINARY(step_minimum, y < x ? y : x)
BINARY(step_mod, rest(x, y))
BINARY(step_floor_mod, floor_rest(x, y))
BINARY(step_squared_difference, (u - v) * (u - v))
BINARY(step_equal, x == y)
BINARY(step_not_equal, x != y)
BINARY(step_less, x < y)
BINARY(step_less_equal, x <= y)
BINARY(step_greater, x > y)
BINARY(step_greater_equal, x >= y)
BINARY(step_and, (u & v))
BINARY(step_or, (u | v))
BINARY(step_xor, (u ^ v))

/* The integer next to x that is not beyond what 64 bits hold. */
static int64_t bound_of(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    return x > -0x1p63 ? (int64_t) x : INT64_MIN;
}

/* Integers between two reals. */
STEP(step_clamp)
{
    const int64_t *a = in_a;
    int64_t *out = to;
    int64_t least = bound_of(ceil(step->x)), most = bound_of(floor(step->y));

    (void) in_b, (void) in_c;
    MO_CPU_IVDEP for (int i = 0; i < n; i++)
    {
        int64_t risen = a[i] < least ? least : a[i];
        out[i] = risen > most ? most : risen;
    }
}

#define WRAP(type)                                                             \
    MO_CPU_IVDEP for (int i = 0; i < n; i++) out[i] =                          \
        (int64_t) (type) (uint64_t) a[i]

STEP(step_wrap)
{
    const int64_t *a = in_a;
    int64_t *out = to;

    (void) in_b, (void) in_c;
    switch (step->elem) {
    case MO_ELEM_I32:
        WRAP(int32_t);
        break;
    case MO_ELEM_I16:
        WRAP(int16_t);
        break;
    case MO_ELEM_I8:
        WRAP(int8_t);
        break;
    case MO_ELEM_U32:
        WRAP(uint32_t);
        break;
    case MO_ELEM_U16:
        WRAP(uint16_t);
        break;
    case MO_ELEM_U8:
        WRAP(uint8_t);
        break;
    case MO_ELEM_BOOL:
        MO_CPU_IVDEP for (int i = 0; i < n; i++) out[i] = a[i] != 0;
        break;
    default:
        WRAP(uint64_t);
    }
}

STEP(step_select)
{
    const int64_t *a = in_a, *b = in_b, *c = in_c;
    int64_t *out = to;

    (void) step;
    MO_CPU_IVDEP for (int i = 0; i < n; i++) out[i] = a[i] ? b[i] : c[i];
}

mo_cpu_step_fn *mo_cpu_step_fn_int(mo_point_op op)
{
    static mo_cpu_step_fn *const table[MO_POINT_OPS] = {
        [MO_POINT_I_ABS] = step_abs,
        [MO_POINT_I_NEGATE] = step_negate,
        [MO_POINT_I_SIGN] = step_sign,
        [MO_POINT_I_NOT] = step_not,
        [MO_POINT_I_BITS_NOT] = step_bits_not,
        [MO_POINT_I_CLAMP] = step_clamp,
        [MO_POINT_I_RELU] = step_relu,
        [MO_POINT_I_ADD] = step_add,
        [MO_POINT_I_SUBTRACT] = step_subtract,
        [MO_POINT_I_MULTIPLY] = step_multiply,
        [MO_POINT_I_DIVIDE] = step_divide,
        [MO_POINT_I_FLOOR_DIVIDE] = step_floor_divide,
        [MO_POINT_I_POWER] = step_power,
        [MO_POINT_I_MAXIMUM] = step_maximum,
        [MO_POINT_I_MINIMUM] = step_minimum,
        [MO_POINT_I_MOD] = step_mod,
        [MO_POINT_I_FLOOR_MOD] = step_floor_mod,
        [MO_POINT_I_SQUARED_DIFFERENCE] = step_squared_difference,
        [MO_POINT_I_EQUAL] = step_equal,
        [MO_POINT_I_NOT_EQUAL] = step_not_equal,
        [MO_POINT_I_LESS] = step_less,
        [MO_POINT_I_LESS_EQUAL] = step_less_equal,
        [MO_POINT_I_GREATER] = step_greater,
        [MO_POINT_I_GREATER_EQUAL] = step_greater_equal,
        [MO_POINT_I_AND] = step_and,
        [MO_POINT_I_OR] = step_or,
        [MO_POINT_I_XOR] = step_xor,
        [MO_POINT_I_WRAP] = step_wrap,
        [MO_POINT_I_SELECT] = step_select,
    };

    return table[op];
}
