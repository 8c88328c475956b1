/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator of pointwise programs, one statement per step. The expression of
 * each step is a template, in which
 *
 *     @a @b @c   are its registers, @x @y its numbers, as literals
 *     @R         is the type of reals, @f the suffix of their functions
 *     @I         is the type of integers: signed, or unsigned of u64
 *     @t @u      are variables of its own
 *
 * and all other text is copied. The semantics are those of the CPU's steps,
 * exec/backend/cpu/pointwise/steps_real.inc and steps_int.c.
 */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/backend/cuda/jit/codegen.h"

typedef struct step_template {
    const char *value;
    const char *before; /* statements before the value, or NULL */
} step_template;

/* NaN stays NaN: both comparisons are false. */
#define BOUNDED(x, least, most)                                                \
    "(" x " < " least " ? " least " : " x ") > " most " ? " most " : " x       \
    " < " least " ? " least " : " x

#define SIGMOID(x) "1 / (1 + exp@f(-(" x ")))"

/* A value outside of int64 becomes the least one. */
#define TRUNCATE                                                               \
    "@a >= (@R) -9223372036854775808.0 && @a < (@R) 9223372036854775808.0 ? "  \
    "(long long) @a : -9223372036854775807LL - 1"

#define U(x) "(unsigned long long) " x

/* Division by zero is 0; the least number divided by -1 is itself. */
#define QUOTIENT                                                               \
    "@b == 0 ? 0 : @b < 0 && @b == -1 ? (@I) (0 - " U("@a") ") : @a / @b"
#define REST "@b == 0 || (@b < 0 && @b == -1) ? 0 : @a % @b"

/* One divided by anything but 1 or -1 is 0. */
#define POWER                                                                  \
    "unsigned long long @t = 1, @u = " U(                                      \
        "@a") ";\n"                                                            \
              "for (@I n = @b; n > 0; n >>= 1, @u *= @u)\n"                    \
              "    if (n & 1)\n"                                               \
              "        @t *= @u;\n"                                            \
              "if (@b < 0)\n"                                                  \
              "    @t = @a == 1 || (@a == -1 && @b % 2 == 0) ? 1 : @a == -1 "  \
              "? " U("-1") " : 0;\n"

/* One line for each row of exec/op/points.def: the value of the step. */
#define RECIPE(name, value)                                                    \
    static const step_template recipe_##name = { value, NULL };
#define RECIPE_WITH(name, value, before)                                       \
    static const step_template recipe_##name = { value, before };

/* clang-format off */
RECIPE(ABS, "fabs@f(@a)")
RECIPE(NEGATE, "-@a")
RECIPE(EXP, "exp@f(@a)")
RECIPE(LOG, "log@f(@a)")
RECIPE(SQRT, "sqrt@f(@a)")
RECIPE(SIN, "sin@f(@a)")
RECIPE(COS, "cos@f(@a)")
RECIPE(TAN, "tan@f(@a)")
RECIPE(ASIN, "asin@f(@a)")
RECIPE(ACOS, "acos@f(@a)")
RECIPE(ATAN, "atan@f(@a)")
RECIPE(SINH, "sinh@f(@a)")
RECIPE(COSH, "cosh@f(@a)")
RECIPE(TANH, "tanh@f(@a)")
RECIPE(ASINH, "asinh@f(@a)")
RECIPE(ACOSH, "acosh@f(@a)")
RECIPE(ATANH, "atanh@f(@a)")
RECIPE(ERF, "erf@f(@a)")
RECIPE(FLOOR, "floor@f(@a)")
RECIPE(CEILING, "ceil@f(@a)")
RECIPE(ROUND_EVEN, "rint@f(@a)")
RECIPE(ROUND_AWAY, "round@f(@a)")
RECIPE(SIGN, "@a > 0 ? 1 : @a < 0 ? -1 : @a == 0 ? 0 : @a")
RECIPE(RECIPROCAL, "1 / @a")
RECIPE(SIGMOID, SIGMOID("@a"))
RECIPE(SOFTPLUS, "(@a > 0 ? @a : 0) + log1p@f(exp@f(-fabs@f(@a)))")
RECIPE(SOFTSIGN, "@a / (1 + fabs@f(@a))")
/* tanh(log(1 + e)) is u / (u + 2) with u = e (e + 2). */
RECIPE_WITH(MISH, "@a * (@u / (@u + 2))",
    "const @R @t = exp@f(@a > 20 ? 20 : @a);\n"
    "const @R @u = @t * (@t + 2);\n")
RECIPE(GELU_ERF, "(@R) 0.5 * @a * (1 + erf@f(@a * (@R) "
    "0.70710678118654752))")
/* The same as @a sigmoid(2 t), t what the tanh is taken of. */
RECIPE_WITH(GELU_TANH, "@a * (" SIGMOID("2 * @t") ")",
    "const @R @t = (@R) 0.79788456080286536 * (@a + "
    "(@R) 0.044715 * @a * @a * @a);\n")
RECIPE(HSWISH, "(" BOUNDED("@a + 3", "0", "6") ") / 6 * @a")
RECIPE(HSIGMOID, "(" BOUNDED("@a + 3", "0", "6") ") / 6")
RECIPE(RELU, "@a < 0 ? 0 : @a")
RECIPE(CLAMP, BOUNDED("@a", "@x", "@y"))
RECIPE(ELU, "@a < 0 ? @x * expm1@f(@a) : @a")
RECIPE(SELU, "(@a < 0 ? @x * expm1@f(@a) : @a) * @y")
RECIPE(LEAKY_RELU, "@a < 0 ? @x * @a : @a")
RECIPE(SWISH, "@a * (" SIGMOID("@x * @a") ")")
RECIPE_WITH(HARD_SIGMOID, BOUNDED("@t", "0", "1"),
    "const @R @t = @x * @a + @y;\n")
RECIPE(AFFINE, "@x * @a + @y")
RECIPE(ADD, "@a + @b")
RECIPE(SUBTRACT, "@a - @b")
RECIPE(MULTIPLY, "@a * @b")
RECIPE(DIVIDE, "@a / @b")
RECIPE(POWER, "pow@f(@a, @b)")
RECIPE(MAXIMUM, "@a < @b || @b != @b ? @b : @a")
RECIPE(MINIMUM, "@b < @a || @b != @b ? @b : @a")
RECIPE(MOD, "fmod@f(@a, @b)")
RECIPE_WITH(FLOOR_MOD, "@t != 0 && (@t < 0) != (@b < 0) ? @t + @b : @t",
    "const @R @t = fmod@f(@a, @b);\n")
RECIPE(SQUARED_DIFFERENCE, "(@a - @b) * (@a - @b)")
RECIPE(ATAN2, "atan2@f(@a, @b)")
RECIPE(PRELU, "@a < 0 ? @a * @b : @a")

RECIPE(EQUAL, "@a == @b")
RECIPE(NOT_EQUAL, "@a != @b")
RECIPE(LESS, "@a < @b")
RECIPE(LESS_EQUAL, "@a <= @b")
RECIPE(GREATER, "@a > @b")
RECIPE(GREATER_EQUAL, "@a >= @b")
RECIPE(IS_NAN, "@a != @a")
/* Only infinities equal their half. */
RECIPE(IS_INF, "@a != 0 && @a * (@R) 0.5 == @a")
RECIPE(IS_FINITE, "@a - @a == 0")
RECIPE(TRUNCATE, TRUNCATE)

RECIPE(I_ABS, "(long long) (@a < 0 ? 0 - " U("@a") " : " U("@a") ")")
RECIPE(I_NEGATE, "(long long) (0 - " U("@a") ")")
RECIPE(I_SIGN, "(@a > 0) - (@a < 0)")
RECIPE(I_NOT, "@a == 0")
RECIPE(I_BITS_NOT, "~@a")
RECIPE(I_CLAMP, BOUNDED("@a", "@x", "@y"))
RECIPE(I_RELU, "@a < 0 ? 0 : @a")
RECIPE(I_ADD, "(long long) (" U("@a") " + " U("@b") ")")
RECIPE(I_SUBTRACT, "(long long) (" U("@a") " - " U("@b") ")")
RECIPE(I_MULTIPLY, "(long long) (" U("@a") " * " U("@b") ")")
RECIPE(I_DIVIDE, QUOTIENT)
RECIPE_WITH(I_FLOOR_DIVIDE, "@u - (@t != 0 && (@t < 0) != (@b < 0))",
    "const @I @t = " REST ";\n"
    "const @I @u = " QUOTIENT ";\n")
RECIPE_WITH(I_POWER, "(long long) @t", POWER)
RECIPE(I_MAXIMUM, "@a < @b ? @b : @a")
RECIPE(I_MINIMUM, "@b < @a ? @b : @a")
RECIPE(I_MOD, REST)
RECIPE_WITH(I_FLOOR_MOD, "@t != 0 && (@t < 0) != (@b < 0) ? @t + @b : @t",
    "const @I @t = " REST ";\n")
RECIPE_WITH(I_SQUARED_DIFFERENCE, "(long long) (@t * @t)",
    "const unsigned long long @t = " U("@a") " - " U("@b") ";\n")
RECIPE(I_EQUAL, "@a == @b")
RECIPE(I_NOT_EQUAL, "@a != @b")
RECIPE(I_LESS, "@a < @b")
RECIPE(I_LESS_EQUAL, "@a <= @b")
RECIPE(I_GREATER, "@a > @b")
RECIPE(I_GREATER_EQUAL, "@a >= @b")
RECIPE(I_AND, "@a & @b")
RECIPE(I_OR, "@a | @b")
RECIPE(I_XOR, "@a ^ @b")
RECIPE(I_SHIFT_LEFT, "@b < 0 || @b > 63 ? 0 : (long long) ((unsigned long "
                     "long) @a << @b)")
RECIPE(I_SHIFT_RIGHT, "@b < 0 || @b > 63 ? 0 : @a >> @b")

RECIPE(TO_REAL, "(@R) @a")
RECIPE(SELECT, "@a ? @b : @c")
RECIPE(I_SELECT, "@a ? @b : @c")
RECIPE(ROUND_TO, NULL) /* emit_round_to() */
RECIPE(I_WRAP, NULL)   /* emit_wrap() */
/* clang-format on */

/* TRUNCATE to u64. */
static const step_template recipe_unsigned = {
    "@a >= (@R) 9223372036854775808.0 && @a < (@R) 18446744073709551616.0 ? "
    "(long long) (unsigned long long) @a : " TRUNCATE,
    NULL
};

static const step_template *const recipes[MO_POINT_OPS] = {
#define POINT(name, signature) [MO_POINT_##name] = &recipe_##name,
#include "exec/op/points.def"
};

/* State of the step being emitted. */
typedef struct step_state {
    mo_cuda_source *code;
    const mo_point_step *step;
    int reg; /* the register that it sets */
    bool wide;
} step_state;

/* The integer nearest to x within 64 bits; the least one has no literal. */
static void emit_bound(mo_cuda_source *code, double x)
{
    if (x >= 0x1p63)
        mo_cuda_source_append(code, "9223372036854775807LL");
    else if (x > -0x1p63)
        mo_cuda_source_printf(code, "%lldLL", (long long) x);
    else
        mo_cuda_source_append(code, "(-9223372036854775807LL - 1)");
}

/* The same for unsigned integers. */
static void emit_natural_bound(mo_cuda_source *code, double x)
{
    mo_cuda_source_printf(code, "%lluULL",
                          x >= 0x1p64 ? ULLONG_MAX
                          : x > 0     ? (unsigned long long) x
                                      : 0);
}

static bool is_unsigned(const mo_point_step *step)
{
    return step->elem == MO_ELEM_U64 && step->op != MO_POINT_I_WRAP;
}

static void emit_register(const step_state *w, int reg, bool real)
{
    mo_cuda_source_printf(
        w->code, "%sr%d",
        !real && is_unsigned(w->step) ? "(unsigned long long) " : "", reg);
}

/* Integers are clamped to the integers between two reals. */
static void emit_number(const step_state *w, char which)
{
    double x = which == 'x' ? w->step->x : w->step->y;

    if (w->step->op == MO_POINT_I_CLAMP)
        (is_unsigned(w->step) ? emit_natural_bound : emit_bound)(
            w->code, which == 'x' ? ceil(x) : floor(x));
    else
        mo_cuda_emit_real(w->code, x, w->wide);
}

static void emit_template(const step_state *w, const char *text)
{
    mo_point_signature signature = mo_point_op_signature(w->step->op);

    while (*text) {
        size_t plain = strcspn(text, "@");

        mo_cuda_source_printf(w->code, "%.*s", (int) plain, text);
        text += plain;
        if (*text) {
            switch (text[1]) {
            case 'a':
                emit_register(w, w->step->a, signature.a_real);
                break;
            case 'b':
                emit_register(w, w->step->b, signature.b_real);
                break;
            case 'c':
                emit_register(w, w->step->c, signature.b_real);
                break;
            case 'I':
                mo_cuda_source_append(w->code, is_unsigned(w->step)
                                                   ? "unsigned long long"
                                                   : "long long");
                break;
            case 'R':
                mo_cuda_source_append(w->code, w->wide ? "double" : "float");
                break;
            case 'f':
                mo_cuda_source_append(w->code, w->wide ? "" : "f");
                break;
            case 't':
            case 'u':
                mo_cuda_source_printf(w->code, "%c%d", text[1], w->reg);
                break;
            default:
                emit_number(w, text[1]);
            }
            text += 2;
        }
    }
}

/* An element in memory, converted to a register. */
static void emit_load(mo_cuda_source *code, mo_elem elem, const char *element)
{
    switch (elem) {
    case MO_ELEM_F32:
    case MO_ELEM_F64:
        mo_cuda_source_append(code, element);
        break;
    case MO_ELEM_F16:
        mo_cuda_source_printf(code, "mo_f16_load(%s)", element);
        break;
    case MO_ELEM_BF16:
        mo_cuda_source_printf(code, "mo_bf16_load(%s)", element);
        break;
    case MO_ELEM_BOOL:
        mo_cuda_source_printf(code, "(%s) != 0", element);
        break;
    default:
        mo_cuda_source_printf(code, "(long long) (%s)", element);
    }
}

/* Rounds a real as storing and loading would: halves are converted from
 * floats. */
static void emit_round_to(const step_state *w)
{
    int a = w->step->a;

    switch (w->step->elem) {
    case MO_ELEM_F16:
        mo_cuda_source_printf(w->code, "mo_f16_load(mo_f16_store((float) r%d))",
                              a);
        break;
    case MO_ELEM_BF16:
        mo_cuda_source_printf(w->code,
                              "mo_bf16_load(mo_bf16_store((float) r%d))", a);
        break;
    case MO_ELEM_F32:
        mo_cuda_source_printf(w->code, "(float) r%d", a);
        break;
    default:
        mo_cuda_source_printf(w->code, "r%d", a);
    }
}

static const char *compute_type(bool real, bool wide)
{
    return !real ? "long long" : wide ? "double" : "float";
}

void mo_cuda_stored_expr(mo_elem stored, const char *value,
                         char result[MO_CUDA_EXPR_SIZE])
{
    switch (stored) {
    case MO_ELEM_F16:
        snprintf(result, MO_CUDA_EXPR_SIZE, "mo_f16_store((float) %s)", value);
        break;
    case MO_ELEM_BF16:
        snprintf(result, MO_CUDA_EXPR_SIZE, "mo_bf16_store((float) %s)", value);
        break;
    case MO_ELEM_BOOL:
        snprintf(result, MO_CUDA_EXPR_SIZE, "(unsigned char) (%s != 0)", value);
        break;
    default:
        snprintf(result, MO_CUDA_EXPR_SIZE, "(%s) %s",
                 mo_cuda_elem_type_name(stored), value);
    }
}

void mo_cuda_emit_point_steps(mo_cuda_source *code,
                              const mo_point_program *point, mo_elem stored,
                              const char *const *operands,
                              char result[MO_CUDA_EXPR_SIZE])
{
    bool wide = mo_point_is_wide(point, stored);
    bool used[MO_POINT_MAX_REGISTERS] = { false };
    char value[16];

    mo_point_mark_live(point, used);
    for (int i = 0; i < point->n_operands; i++)
        if (used[i]) {
            mo_elem elem = point->operands[i].elem;
            const char *element = operands[i];
            const char *type = compute_type(mo_elem_is_float(elem), wide);

            mo_cuda_source_printf(code, "const %s r%d = ", type, i);
            if (element)
                emit_load(code, elem, element);
            else
                mo_cuda_source_append(code, "v");
            mo_cuda_source_append(code, ";\n");
        }
    for (int i = 0; i < point->n_steps; i++) {
        step_state w = { code, &point->steps[i], point->n_operands + i, wide };

        if (used[w.reg]) {
            const step_template *how =
                w.step->op == MO_POINT_TRUNCATE && is_unsigned(w.step)
                    ? &recipe_unsigned
                    : recipes[w.step->op];
            bool real = mo_point_op_signature(w.step->op).real;

            if (how->before)
                emit_template(&w, how->before);
            mo_cuda_source_printf(
                w.code, "const %s r%d = ", compute_type(real, w.wide), w.reg);
            if (w.step->op == MO_POINT_ROUND_TO)
                emit_round_to(&w);
            else if (w.step->op == MO_POINT_I_WRAP) {
                if (w.step->elem == MO_ELEM_BOOL)
                    mo_cuda_source_printf(w.code, "r%d != 0", w.step->a);
                else
                    mo_cuda_source_printf(
                        w.code, "(long long) (%s) r%d",
                        mo_elem_is_float(w.step->elem)
                            ? "long long"
                            : mo_cuda_elem_type_name(w.step->elem),
                        w.step->a);
            } else
                emit_template(&w, how->value);
            mo_cuda_source_append(w.code, ";\n");
        }
    }
    snprintf(value, sizeof value, "r%d", point->result);
    mo_cuda_stored_expr(stored, value, result);
}
