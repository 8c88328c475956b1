/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/cpu/reference_pointwise.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

typedef union slow_register {
    double real;
    int64_t integer;
} slow_register;

static double gelu_tanh(double a)
{
    double u = sqrt(2 / acos(-1)) * (a + 0.044715 * a * a * a);

    return 0.5 * a * (1 + tanh(u));
}

static double clamp(double a, double x, double y)
{
    return a < x ? x : a > y ? y : a;
}

static double softplus(double a)
{
    return a > 0 ? a + log1p(exp(-a)) : log1p(exp(a));
}

static double round_to(mo_elem elem, double a)
{
    mo_tensor_desc desc = { elem, { 0, { 0 } } };
    mo_tensor_dense one = { 0 };
    double rounded;

    MUST(mo_tensor_new(&desc, &one, &err));
    mo_tensor_set_double(&one, 0, a);
    rounded = mo_tensor_get_double(&one, 0);
    mo_tensor_clear(&one);
    return rounded;
}

double slow_real(const mo_point_step *step, double a, double b)
{
    double x = step->x, y = step->y;

    switch (step->op) {
    case MO_POINT_ABS:
        return fabs(a);
    case MO_POINT_NEGATE:
        return -a;
    case MO_POINT_EXP:
        return exp(a);
    case MO_POINT_LOG:
        return log(a);
    case MO_POINT_SQRT:
        return sqrt(a);
    case MO_POINT_SIN:
        return sin(a);
    case MO_POINT_COS:
        return cos(a);
    case MO_POINT_TAN:
        return tan(a);
    case MO_POINT_ASIN:
        return asin(a);
    case MO_POINT_ACOS:
        return acos(a);
    case MO_POINT_ATAN:
        return atan(a);
    case MO_POINT_SINH:
        return sinh(a);
    case MO_POINT_COSH:
        return cosh(a);
    case MO_POINT_TANH:
        return tanh(a);
    case MO_POINT_ASINH:
        return asinh(a);
    case MO_POINT_ACOSH:
        return acosh(a);
    case MO_POINT_ATANH:
        return atanh(a);
    case MO_POINT_ERF:
        return erf(a);
    case MO_POINT_FLOOR:
        return floor(a);
    case MO_POINT_CEILING:
        return ceil(a);
    case MO_POINT_ROUND_EVEN:
        return nearbyint(a);
    case MO_POINT_ROUND_AWAY:
        return round(a);
    case MO_POINT_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case MO_POINT_RECIPROCAL:
        return 1 / a;
    case MO_POINT_SIGMOID:
        return 1 / (1 + exp(-a));
    case MO_POINT_SOFTPLUS:
        return softplus(a);
    case MO_POINT_SOFTSIGN:
        return a / (1 + fabs(a));
    case MO_POINT_MISH:
        return a * tanh(softplus(a));
    case MO_POINT_GELU_ERF:
        return 0.5 * a * (1 + erf(a / sqrt(2)));
    case MO_POINT_GELU_TANH:
        return gelu_tanh(a);
    case MO_POINT_HSWISH:
        return a * clamp(a + 3, 0, 6) / 6;
    case MO_POINT_HSIGMOID:
        return clamp(a + 3, 0, 6) / 6;
    case MO_POINT_RELU:
        return a > 0 ? a : 0;
    case MO_POINT_CLAMP:
        return clamp(a, x, y);
    case MO_POINT_ELU:
        return a < 0 ? x * (exp(a) - 1) : a;
    case MO_POINT_SELU:
        return a < 0 ? y * x * (exp(a) - 1) : y * a;
    case MO_POINT_LEAKY_RELU:
        return a < 0 ? x * a : a;
    case MO_POINT_SWISH:
        return a / (1 + exp(-x * a));
    case MO_POINT_HARD_SIGMOID:
        return clamp(x * a + y, 0, 1);
    case MO_POINT_AFFINE:
        return x * a + y;
    case MO_POINT_ROUND_TO:
        return round_to(step->elem, a);
    case MO_POINT_ADD:
        return a + b;
    case MO_POINT_SUBTRACT:
        return a - b;
    case MO_POINT_MULTIPLY:
        return a * b;
    case MO_POINT_DIVIDE:
        return a / b;
    case MO_POINT_POWER:
        return pow(a, b);
    case MO_POINT_MAXIMUM:
        return a < b || isnan(b) ? b : a;
    case MO_POINT_MINIMUM:
        return b < a || isnan(b) ? b : a;
    case MO_POINT_MOD:
        return a - trunc(a / b) * b;
    case MO_POINT_FLOOR_MOD:
        return a - floor(a / b) * b;
    case MO_POINT_SQUARED_DIFFERENCE:
        return (a - b) * (a - b);
    case MO_POINT_ATAN2:
        return atan2(a, b);
    case MO_POINT_PRELU:
        return a < 0 ? a * b : a;
    default:
        ck_abort_msg("operation %d gives no real", (int) step->op);
    }
}

int64_t slow_test(mo_point_op op, double a, double b)
{
    switch (op) {
    case MO_POINT_EQUAL:
        return a == b;
    case MO_POINT_NOT_EQUAL:
        return a != b;
    case MO_POINT_LESS:
        return a < b;
    case MO_POINT_LESS_EQUAL:
        return a <= b;
    case MO_POINT_GREATER:
        return a > b;
    case MO_POINT_GREATER_EQUAL:
        return a >= b;
    case MO_POINT_IS_NAN:
        return isnan(a);
    case MO_POINT_IS_INF:
        return isinf(a) != 0;
    case MO_POINT_IS_FINITE:
        return isfinite(a) != 0;
    default:
        return (int64_t) a;
    }
}

static int64_t wrap_integer(mo_elem elem, int64_t a)
{
    switch (elem) {
    case MO_ELEM_I32:
        return (int32_t) a;
    case MO_ELEM_I16:
        return (int16_t) a;
    case MO_ELEM_I8:
        return (int8_t) a;
    case MO_ELEM_U32:
        return (uint32_t) a;
    case MO_ELEM_U16:
        return (uint16_t) a;
    case MO_ELEM_U8:
        return (uint8_t) a;
    case MO_ELEM_BOOL:
        return a != 0;
    default:
        return a;
    }
}

static int64_t slow_power(int64_t a, int64_t b)
{
    uint64_t result = 1;

    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    for (int64_t i = 0; i < b; i++)
        result *= (uint64_t) a;
    return (int64_t) result;
}

/* Of unsigned integers; those of *step that do not depend on the sign are left
 * to slow_integer(), which then has *differs false. */
static int64_t slow_natural(const mo_point_step *step, uint64_t u, uint64_t v,
                            bool *differs)
{
    *differs = true;
    switch (step->op) {
    case MO_POINT_I_ABS:
    case MO_POINT_I_RELU:
        return (int64_t) u;
    case MO_POINT_I_SIGN:
        return u != 0;
    case MO_POINT_I_CLAMP:
        if (u < (uint64_t) fmax(0, ceil(step->x)))
            u = (uint64_t) fmax(0, ceil(step->x));
        return (int64_t) (u > (uint64_t) step->y ? (uint64_t) step->y : u);
    case MO_POINT_I_DIVIDE:
    case MO_POINT_I_FLOOR_DIVIDE:
        return v == 0 ? 0 : (int64_t) (u / v);
    case MO_POINT_I_MOD:
    case MO_POINT_I_FLOOR_MOD:
        return v == 0 ? 0 : (int64_t) (u % v);
    case MO_POINT_I_MAXIMUM:
        return (int64_t) (u > v ? u : v);
    case MO_POINT_I_MINIMUM:
        return (int64_t) (u < v ? u : v);
    case MO_POINT_I_LESS:
        return u < v;
    case MO_POINT_I_LESS_EQUAL:
        return u <= v;
    case MO_POINT_I_GREATER:
        return u > v;
    case MO_POINT_I_GREATER_EQUAL:
        return u >= v;
    case MO_POINT_I_SHIFT_RIGHT:
        return v > 63 ? 0 : (int64_t) (u >> v);
    default:
        *differs = false;
        return 0;
    }
}

int64_t slow_integer(const mo_point_step *step, int64_t a, int64_t b)
{
    uint64_t u = (uint64_t) a, v = (uint64_t) b;
    bool differs = false;
    int64_t natural =
        step->elem == MO_ELEM_U64 ? slow_natural(step, u, v, &differs) : 0;

    if (differs)
        return natural;
    switch (step->op) {
    case MO_POINT_I_ABS:
        return (int64_t) (a < 0 ? 0 - u : u);
    case MO_POINT_I_NEGATE:
        return (int64_t) (0 - u);
    case MO_POINT_I_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case MO_POINT_I_NOT:
        return !a;
    case MO_POINT_I_BITS_NOT:
        return ~a;
    case MO_POINT_I_CLAMP:
        return a < step->x   ? (int64_t) ceil(step->x)
               : a > step->y ? (int64_t) floor(step->y)
                             : a;
    case MO_POINT_I_RELU:
        return a > 0 ? a : 0;
    case MO_POINT_I_ADD:
        return (int64_t) (u + v);
    case MO_POINT_I_SUBTRACT:
        return (int64_t) (u - v);
    case MO_POINT_I_MULTIPLY:
        return (int64_t) (u * v);
    case MO_POINT_I_DIVIDE:
        return b == 0 ? 0 : a / b;
    case MO_POINT_I_FLOOR_DIVIDE:
        return b == 0 ? 0 : (int64_t) floor((double) a / (double) b);
    case MO_POINT_I_POWER:
        return slow_power(a, b);
    case MO_POINT_I_MAXIMUM:
        return a > b ? a : b;
    case MO_POINT_I_MINIMUM:
        return a < b ? a : b;
    case MO_POINT_I_MOD:
        return b == 0 ? 0 : a % b;
    case MO_POINT_I_FLOOR_MOD:
        return b == 0 ? 0 : ((a % b) + b) % b;
    case MO_POINT_I_SQUARED_DIFFERENCE:
        return (int64_t) ((u - v) * (u - v));
    case MO_POINT_I_EQUAL:
        return a == b;
    case MO_POINT_I_NOT_EQUAL:
        return a != b;
    case MO_POINT_I_LESS:
        return a < b;
    case MO_POINT_I_LESS_EQUAL:
        return a <= b;
    case MO_POINT_I_GREATER:
        return a > b;
    case MO_POINT_I_GREATER_EQUAL:
        return a >= b;
    case MO_POINT_I_AND:
        return a & b;
    case MO_POINT_I_OR:
        return a | b;
    case MO_POINT_I_SHIFT_LEFT:
        return b < 0 || b > 63 ? 0 : (int64_t) ((uint64_t) a << b);
    case MO_POINT_I_SHIFT_RIGHT:
        return b < 0 || b > 63 ? 0 : a >> b;
    case MO_POINT_I_XOR:
        return a ^ b;
    case MO_POINT_I_WRAP:
        return wrap_integer(step->elem, a);
    default:
        ck_abort_msg("operation %d is not on integers", (int) step->op);
    }
}

static slow_register slow_step(const mo_point_step *step,
                               const slow_register *regs, bool wide)
{
    const slow_register *a = &regs[step->a], *b = &regs[step->b];
    mo_point_signature kind = mo_point_op_signature(step->op);
    slow_register out;

    if (step->op == MO_POINT_SELECT || step->op == MO_POINT_I_SELECT)
        return a->integer ? *b : regs[step->c];
    if (step->op == MO_POINT_TO_REAL)
        out.real = step->elem == MO_ELEM_U64 ? (double) (uint64_t) a->integer
                                             : (double) a->integer;
    else if (step->op == MO_POINT_TRUNCATE && step->elem == MO_ELEM_U64 &&
             a->real >= 0x1p63 && a->real < 0x1p64)
        out.integer = (int64_t) (uint64_t) a->real;
    else if (!kind.real && kind.a_real)
        out.integer =
            slow_test(step->op, a->real, kind.arity > 1 ? b->real : 0);
    else if (!kind.real)
        out.integer =
            slow_integer(step, a->integer, kind.arity > 1 ? b->integer : 0);
    else
        out.real = slow_real(step, a->real, kind.arity > 1 ? b->real : 0);
    if (kind.real && !wide)
        out.real = (float) out.real;
    return out;
}

int64_t slow_place(const mo_point_access *access, const mo_shape *shape,
                   const int64_t *index)
{
    int64_t at = access->offset;

    for (int d = 0; d < shape->rank; d++)
        at += index[d] * access->stride[d];
    return at;
}

static void slow_element(const mo_point_program *point,
                         const mo_tensor_desc *desc,
                         const void *const *operands, const int64_t *index,
                         mo_tensor_dense *out)
{
    bool wide = mo_point_is_wide(point, desc->elem);
    slow_register regs[MO_POINT_MAX_OPERANDS + MO_POINT_MAX_STEPS];
    int64_t to = slow_place(&point->out, &desc->shape, index);

    for (int i = 0; i < point->n_operands; i++) {
        const mo_point_operand *operand = &point->operands[i];
        int64_t at = slow_place(&operand->access, &desc->shape, index);
        mo_tensor_dense whole = { { operand->elem, { 1, { at + 1 } } },
                                  NULL,
                                  false };

        memcpy(&whole.data, &operands[i], sizeof whole.data);
        if (mo_elem_is_float(operand->elem))
            regs[i].real = mo_tensor_get_double(&whole, at);
        else
            regs[i].integer = mo_tensor_get_int(&whole, at);
    }
    for (int i = 0; i < point->n_steps; i++)
        regs[point->n_operands + i] = slow_step(&point->steps[i], regs, wide);
    if (mo_elem_is_float(desc->elem))
        mo_tensor_set_double(out, to, regs[point->result].real);
    else
        mo_tensor_set_int(
            out, to, wrap_integer(desc->elem, regs[point->result].integer));
}

void slow_point_run(const mo_point_program *point, const mo_tensor_desc *desc,
                    const void *const *operands, mo_tensor_dense *out)
{
    int64_t index[MO_MAX_RANK] = { 0 };
    int d;

    do {
        slow_element(point, desc, operands, index, out);
        for (d = desc->shape.rank - 1; d >= 0; d--) {
            if (++index[d] < desc->shape.dims[d])
                break;
            index[d] = 0;
        }
    } while (d >= 0);
}
