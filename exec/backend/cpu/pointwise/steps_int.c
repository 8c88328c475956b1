/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise steps on integers: 64 bits, with wrap-around like unsigned
 * arithmetic.
 */
#include "exec/backend/cpu/unit/multiversion.h"

#include <math.h>

#include "exec/backend/cpu/pointwise/steps.h"

#define STEP(name)                                                             \
    MO_CPU_MULTIVERSION static void step_##name(                               \
        const mo_point_step *step, const void *in_a, const void *in_b,         \
        const void *in_c, void *to, int n)

/* One integer x, also as unsigned u. A u64 has a value of its own. */
#define UNARY(name, value) UNARY_BY_SIGN(name, value, value)
#define UNARY_BY_SIGN(name, value, natural)                                    \
    STEP(name)                                                                 \
    {                                                                          \
        const int64_t *a = in_a;                                               \
        int64_t *out = to;                                                     \
                                                                               \
        (void) in_b, (void) in_c;                                              \
        if (step->elem == MO_ELEM_U64) {                                       \
            MO_CPU_IVDEP for (int i = 0; i < n; i++)                           \
            {                                                                  \
                uint64_t x = (uint64_t) a[i], u = x;                           \
                (void) u;                                                      \
                out[i] = (int64_t) (natural);                                  \
            }                                                                  \
            return;                                                            \
        }                                                                      \
        MO_CPU_IVDEP for (int i = 0; i < n; i++)                               \
        {                                                                      \
            int64_t x = a[i];                                                  \
            uint64_t u = (uint64_t) x;                                         \
            (void) u;                                                          \
            out[i] = (int64_t) (value);                                        \
        }                                                                      \
    }

/* Two, x and y, also as u and v. */
#define BINARY(name, value) BINARY_BY_SIGN(name, value, value)
#define BINARY_BY_SIGN(name, value, natural)                                   \
    STEP(name)                                                                 \
    {                                                                          \
        const int64_t *a = in_a, *b = in_b;                                    \
        int64_t *out = to;                                                     \
                                                                               \
        (void) in_c;                                                           \
        if (step->elem == MO_ELEM_U64) {                                       \
            MO_CPU_IVDEP for (int i = 0; i < n; i++)                           \
            {                                                                  \
                uint64_t x = (uint64_t) a[i], y = (uint64_t) b[i];             \
                uint64_t u = x, v = y;                                         \
                (void) u, (void) v;                                            \
                out[i] = (int64_t) (natural);                                  \
            }                                                                  \
            return;                                                            \
        }                                                                      \
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

MO_CPU_INLINE int64_t remainder_of(int64_t x, int64_t y)
{
    return y == 0 || y == -1 ? 0 : x % y;
}

MO_CPU_INLINE int64_t floor_quotient(int64_t x, int64_t y)
{
    int64_t r = remainder_of(x, y);

    return quotient(x, y) - (r != 0 && (r < 0) != (y < 0));
}

MO_CPU_INLINE int64_t floor_rest(int64_t x, int64_t y)
{
    int64_t r = remainder_of(x, y);

    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static uint64_t natural_power(uint64_t x, uint64_t y)
{
    uint64_t result = 1;

    for (; y > 0; y >>= 1, x *= x)
        if (y & 1)
            result *= x;
    return result;
}

/* A negative exponent yields 0 unless x is 1 or -1. */
static int64_t int_power(int64_t x, int64_t y)
{
    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    return (int64_t) natural_power((uint64_t) x, (uint64_t) y);
}

UNARY_BY_SIGN(I_ABS, x < 0 ? 0 - u : u, x)
UNARY(I_NEGATE, 0 - u)
UNARY_BY_SIGN(I_SIGN, (x > 0) - (x < 0), x > 0)
UNARY(I_NOT, x == 0)
UNARY(I_BITS_NOT, ~u)
UNARY_BY_SIGN(I_RELU, x < 0 ? 0 : x, x)

BINARY(I_ADD, u + v)
BINARY(I_SUBTRACT, u - v)
BINARY(I_MULTIPLY, (u * v))
BINARY_BY_SIGN(I_DIVIDE, quotient(x, y), y == 0 ? 0 : x / y)
BINARY_BY_SIGN(I_FLOOR_DIVIDE, floor_quotient(x, y), y == 0 ? 0 : x / y)
BINARY_BY_SIGN(I_POWER, int_power(x, y), natural_power(x, y))
BINARY(I_MAXIMUM, x < y ? y : x)
BINARY(I_MINIMUM, y < x ? y : x)
BINARY_BY_SIGN(I_MOD, remainder_of(x, y), y == 0 ? 0 : x % y)
BINARY_BY_SIGN(I_FLOOR_MOD, floor_rest(x, y), y == 0 ? 0 : x % y)
BINARY(I_SQUARED_DIFFERENCE, (u - v) * (u - v))
BINARY(I_EQUAL, x == y)
BINARY(I_NOT_EQUAL, x != y)
BINARY(I_LESS, x < y)
BINARY(I_LESS_EQUAL, x <= y)
BINARY(I_GREATER, x > y)
BINARY(I_GREATER_EQUAL, x >= y)
BINARY(I_AND, (u & v))
BINARY(I_OR, (u | v))
BINARY(I_XOR, (u ^ v))
BINARY(I_SHIFT_LEFT, v < 64 ? u << v : 0)
BINARY(I_SHIFT_RIGHT, v < 64 ? x >> v : 0)

/* Returns x rounded and saturated to 64 bits. */
static int64_t bound_of(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    return x > -0x1p63 ? (int64_t) x : INT64_MIN;
}

/* The same for unsigned integers. */
static uint64_t natural_bound(double x)
{
    if (x >= 0x1p64)
        return UINT64_MAX;
    return x > 0 ? (uint64_t) x : 0;
}

/* Clamps integers between two reals. */
STEP(I_CLAMP)
{
    const int64_t *a = in_a;
    int64_t *out = to;
    int64_t least = bound_of(ceil(step->x)), most = bound_of(floor(step->y));

    (void) in_b, (void) in_c;
    if (step->elem == MO_ELEM_U64) {
        uint64_t low = natural_bound(ceil(step->x));
        uint64_t high = natural_bound(floor(step->y));

        for (int i = 0; i < n; i++) {
            uint64_t x = (uint64_t) a[i], risen = x < low ? low : x;

            out[i] = (int64_t) (risen > high ? high : risen);
        }
        return;
    }
    MO_CPU_IVDEP for (int i = 0; i < n; i++)
    {
        int64_t risen = a[i] < least ? least : a[i];
        out[i] = risen > most ? most : risen;
    }
}

#define WRAP(type)                                                             \
    MO_CPU_IVDEP for (int i = 0; i < n; i++) out[i] =                          \
        (int64_t) (type) (uint64_t) a[i]

STEP(I_WRAP)
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

STEP(I_SELECT)
{
    const int64_t *a = in_a, *b = in_b, *c = in_c;
    int64_t *out = to;

    (void) step;
    MO_CPU_IVDEP for (int i = 0; i < n; i++) out[i] = a[i] ? b[i] : c[i];
}

/* Steps on booleans in registers of bytes, each 0 or 1. */
#define LOGIC(name, value)                                                     \
    STEP(name)                                                                 \
    {                                                                          \
        const uint8_t *a = in_a, *b = in_b;                                    \
        uint8_t *out = to;                                                     \
                                                                               \
        (void) step, (void) in_c, (void) b;                                    \
        MO_CPU_IVDEP for (int i = 0; i < n; i++) out[i] = (uint8_t) (value);   \
    }

LOGIC(LOGIC_NOT, a[i] ^ 1)
LOGIC(LOGIC_AND, a[i] & b[i])
LOGIC(LOGIC_OR, a[i] | b[i])
LOGIC(LOGIC_XOR, a[i] ^ b[i])
LOGIC(LOGIC_WRAP, a[i])

mo_cpu_step_fn *mo_cpu_step_fn_logic(const mo_point_step *step)
{
    switch (step->op) {
    case MO_POINT_I_WRAP:
        return step->elem == MO_ELEM_BOOL ? step_LOGIC_WRAP : NULL;
    case MO_POINT_I_NOT:
        return step_LOGIC_NOT;
    case MO_POINT_I_AND:
        return step_LOGIC_AND;
    case MO_POINT_I_OR:
        return step_LOGIC_OR;
    case MO_POINT_I_XOR:
        return step_LOGIC_XOR;
    default:
        return NULL;
    }
}

/* Kernels by the signatures of points.def, without those on reals. */
#define KERNEL_REAL_UNARY(name)    NULL
#define KERNEL_REAL_BINARY(name)   NULL
#define KERNEL_REAL_COMPARE(name)  NULL
#define KERNEL_REAL_CLASSIFY(name) NULL
#define KERNEL_INT_TO_REAL(name)   NULL
#define KERNEL_SELECT(name)        NULL
#define KERNEL_INT_UNARY(name)     step_##name
#define KERNEL_INT_BINARY(name)    step_##name
#define KERNEL_INT_SELECT(name)    step_##name

mo_cpu_step_fn *mo_cpu_step_fn_int(mo_point_op op)
{
    static mo_cpu_step_fn *const table[MO_POINT_OPS] = {
#define POINT(name, signature) [MO_POINT_##name] = KERNEL_##signature(name),
#include "exec/op/points.def"
    };

    return table[op];
}
