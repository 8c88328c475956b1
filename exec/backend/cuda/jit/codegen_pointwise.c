/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise programs as statements.  What each step does stands in a table of
 * templates, in which
 *
 *     @a @b @c   are its registers, @x @y its numbers, as literals
 *     @R         is the type of reals, @f what their functions' names end in
 *     @t @u      are variables of its own
 *
 * and all the rest is what it is.  The meaning is that of the CPU's steps,
 * exec/backend/cpu/pointwise/steps_real.inc and point_int.c.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/backend/cuda/jit/codegen.h"

typedef struct recipe {
    const char *value;
    const char *before; /* statements that come first, or NULL */
} recipe;

/* Not a number stays one: it is neither less nor more than anything. */
#define BOUNDED(x, least, most)                                                \
    "(" x " < " least " ? " least " : " x ") > " most " ? " most " : " x       \
    " < " least " ? " least " : " x

#define SIGMOID(x) "1 / (1 + exp@f(-(" x ")))"

/* What cannot be an int64 is the least one. */
#define TRUNCATE                                                               \
    "@a >= (@R) -9223372036854775808.0 && @a < (@R) 9223372036854775808.0 ? "  \
    "(long long) @a : -9223372036854775807LL - 1"

#define U(x) "(unsigned long long) " x

/* By zero is 0; by -1 the least number stays what it is. */
#define QUOTIENT                                                               \
    "@b == 0 ? 0 : @b == -1 ? (long long) (0 - " U("@a") ") : @a / @b"
#define REST "@b == 0 || @b == -1 ? 0 : @a % @b"

/* One over what is not 1 or -1 is 0. */
#define POWER                                                                  \
    "unsigned long long @t = 1, @u = " U(                                      \
        "@a") ";\n"                                                            \
              "for (long long n = @b; n > 0; n >>= 1, @u *= @u)\n"             \
              "    if (n & 1)\n"                                               \
              "        @t *= @u;\n"                                            \
              "if (@b < 0)\n"                                                  \
              "    @t = @a == 1 || (@a == -1 && @b % 2 == 0) ? 1 : @a == -1 "  \
              "? " U("-1") " : 0;\n"

static const recipe recipes[MO_POINT_OPS] = {
    [MO_POINT_ABS] = { "fabs@f(@a)", NULL },
    [MO_POINT_NEGATE] = { "-@a", NULL },
    [MO_POINT_EXP] = { "exp@f(@a)", NULL },
    [MO_POINT_LOG] = { "log@f(@a)", NULL },
    [MO_POINT_SQRT] = { "sqrt@f(@a)", NULL },
    [MO_POINT_SIN] = { "sin@f(@a)", NULL },
    [MO_POINT_COS] = { "cos@f(@a)", NULL },
    [MO_POINT_TAN] = { "tan@f(@a)", NULL },
    [MO_POINT_ASIN] = { "asin@f(@a)", NULL },
    [MO_POINT_ACOS] = { "acos@f(@a)", NULL },
    [MO_POINT_ATAN] = { "atan@f(@a)", NULL },
    [MO_POINT_SINH] = { "sinh@f(@a)", NULL },
    [MO_POINT_COSH] = { "cosh@f(@a)", NULL },
    [MO_POINT_TANH] = { "tanh@f(@a)", NULL },
    [MO_POINT_ASINH] = { "asinh@f(@a)", NULL },
    [MO_POINT_ACOSH] = { "acosh@f(@a)", NULL },
    [MO_POINT_ATANH] = { "atanh@f(@a)", NULL },
    [MO_POINT_ERF] = { "erf@f(@a)", NULL },
    [MO_POINT_FLOOR] = { "floor@f(@a)", NULL },
    [MO_POINT_CEILING] = { "ceil@f(@a)", NULL },
    [MO_POINT_ROUND_EVEN] = { "rint@f(@a)", NULL },
    [MO_POINT_ROUND_AWAY] = { "round@f(@a)", NULL },
    [MO_POINT_SIGN] = { "@a > 0 ? 1 : @a < 0 ? -1 : @a == 0 ? 0 : @a", NULL },
    [MO_POINT_RECIPROCAL] = { "1 / @a", NULL },
    [MO_POINT_SIGMOID] = { SIGMOID("@a"), NULL },
    [MO_POINT_SOFTPLUS] = { "(@a > 0 ? @a : 0) + log1p@f(exp@f(-fabs@f(@a)))",
                            NULL },
    [MO_POINT_SOFTSIGN] = { "@a / (1 + fabs@f(@a))", NULL },
    /* tanh(log(1 + e)) is u / (u + 2) with u = e (e + 2). */
    [MO_POINT_MISH] = { "@a * (@u / (@u + 2))",
                        "const @R @t = exp@f(@a > 20 ? 20 : @a);\n"
                        "const @R @u = @t * (@t + 2);\n" },
    [MO_POINT_GELU_ERF] = { "(@R) 0.5 * @a * (1 + erf@f(@a * (@R) "
                            "0.70710678118654752))",
                            NULL },
    /* The same as @a sigmoid(2 t), t what the tanh is taken of. */
    [MO_POINT_GELU_TANH] = { "@a * (" SIGMOID("2 * @t") ")",
                             "const @R @t = (@R) 0.79788456080286536 * (@a + "
                             "(@R) 0.044715 * @a * @a * @a);\n" },
    [MO_POINT_HSWISH] = { "(" BOUNDED("@a + 3", "0", "6") ") / 6 * @a", NULL },
    [MO_POINT_HSIGMOID] = { "(" BOUNDED("@a + 3", "0", "6") ") / 6", NULL },
    [MO_POINT_RELU] = { "@a < 0 ? 0 : @a", NULL },
    [MO_POINT_CLAMP] = { BOUNDED("@a", "@x", "@y"), NULL },
    [MO_POINT_ELU] = { "@a < 0 ? @x * expm1@f(@a) : @a", NULL },
    [MO_POINT_SELU] = { "(@a < 0 ? @x * expm1@f(@a) : @a) * @y", NULL },
    [MO_POINT_LEAKY_RELU] = { "@a < 0 ? @x * @a : @a", NULL },
    [MO_POINT_SWISH] = { "@a * (" SIGMOID("@x * @a") ")", NULL },
    [MO_POINT_HARD_SIGMOID] = { BOUNDED("@t", "0", "1"),
                                "const @R @t = @x * @a + @y;\n" },
    [MO_POINT_AFFINE] = { "@x * @a + @y", NULL },
    [MO_POINT_ADD] = { "@a + @b", NULL },
    [MO_POINT_SUBTRACT] = { "@a - @b", NULL },
    [MO_POINT_MULTIPLY] = { "@a * @b", NULL },
    [MO_POINT_DIVIDE] = { "@a / @b", NULL },
    [MO_POINT_POWER] = { "pow@f(@a, @b)", NULL },
    [MO_POINT_MAXIMUM] = { "@a < @b ? @b : @a", NULL },
    [MO_POINT_MINIMUM] = { "@b < @a ? @b : @a", NULL },
    [MO_POINT_MOD] = { "fmod@f(@a, @b)", NULL },
    [MO_POINT_FLOOR_MOD] = { "@t != 0 && (@t < 0) != (@b < 0) ? @t + @b : @t",
                             "const @R @t = fmod@f(@a, @b);\n" },
    [MO_POINT_SQUARED_DIFFERENCE] = { "(@a - @b) * (@a - @b)", NULL },
    [MO_POINT_ATAN2] = { "atan2@f(@a, @b)", NULL },
    [MO_POINT_PRELU] = { "@a < 0 ? @a * @b : @a", NULL },

    [MO_POINT_EQUAL] = { "@a == @b", NULL },
    [MO_POINT_NOT_EQUAL] = { "@a != @b", NULL },
    [MO_POINT_LESS] = { "@a < @b", NULL },
    [MO_POINT_LESS_EQUAL] = { "@a <= @b", NULL },
    [MO_POINT_GREATER] = { "@a > @b", NULL },
    [MO_POINT_GREATER_EQUAL] = { "@a >= @b", NULL },
    [MO_POINT_IS_NAN] = { "@a != @a", NULL },
    /* Only infinities are their own half. */
    [MO_POINT_IS_INF] = { "@a != 0 && @a * (@R) 0.5 == @a", NULL },
    [MO_POINT_IS_FINITE] = { "@a - @a == 0", NULL },
    [MO_POINT_TRUNCATE] = { TRUNCATE, NULL },

    [MO_POINT_I_ABS] = { "(long long) (@a < 0 ? 0 - " U("@a") " : " U("@a") ")",
                         NULL },
    [MO_POINT_I_NEGATE] = { "(long long) (0 - " U("@a") ")", NULL },
    [MO_POINT_I_SIGN] = { "(@a > 0) - (@a < 0)", NULL },
    [MO_POINT_I_NOT] = { "@a == 0", NULL },
    [MO_POINT_I_BITS_NOT] = { "~@a", NULL },
    [MO_POINT_I_CLAMP] = { BOUNDED("@a", "@x", "@y"), NULL },
    [MO_POINT_I_RELU] = { "@a < 0 ? 0 : @a", NULL },
    [MO_POINT_I_ADD] = { "(long long) (" U("@a") " + " U("@b") ")", NULL },
    [MO_POINT_I_SUBTRACT] = { "(long long) (" U("@a") " - " U("@b") ")", NULL },
    [MO_POINT_I_MULTIPLY] = { "(long long) (" U("@a") " * " U("@b") ")", NULL },
    [MO_POINT_I_DIVIDE] = { QUOTIENT, NULL },
    [MO_POINT_I_FLOOR_DIVIDE] = { "@u - (@t != 0 && (@t < 0) != (@b < 0))",
                                  "const long long @t = " REST ";\n"
                                  "const long long @u = " QUOTIENT ";\n" },
    [MO_POINT_I_POWER] = { "(long long) @t", POWER },
    [MO_POINT_I_MAXIMUM] = { "@a < @b ? @b : @a", NULL },
    [MO_POINT_I_MINIMUM] = { "@b < @a ? @b : @a", NULL },
    [MO_POINT_I_MOD] = { REST, NULL },
    [MO_POINT_I_FLOOR_MOD] = { "@t != 0 && (@t < 0) != (@b < 0) ? @t + @b : @t",
                               "const long long @t = " REST ";\n" },
    [MO_POINT_I_SQUARED_DIFFERENCE] = { "(long long) (@t * @t)",
                                        "const unsigned long long @t = " U(
                                            "@a") " - " U("@b") ";\n" },
    [MO_POINT_I_EQUAL] = { "@a == @b", NULL },
    [MO_POINT_I_NOT_EQUAL] = { "@a != @b", NULL },
    [MO_POINT_I_LESS] = { "@a < @b", NULL },
    [MO_POINT_I_LESS_EQUAL] = { "@a <= @b", NULL },
    [MO_POINT_I_GREATER] = { "@a > @b", NULL },
    [MO_POINT_I_GREATER_EQUAL] = { "@a >= @b", NULL },
    [MO_POINT_I_AND] = { "@a & @b", NULL },
    [MO_POINT_I_OR] = { "@a | @b", NULL },
    [MO_POINT_I_XOR] = { "@a ^ @b", NULL },

    [MO_POINT_TO_REAL] = { "(@R) @a", NULL },
    [MO_POINT_SELECT] = { "@a ? @b : @c", NULL },
    [MO_POINT_I_SELECT] = { "@a ? @b : @c", NULL },
};

/* ---- steps */

/* A step being written. */
typedef struct writing {
    mo_cuda_source *code;
    const mo_point_step *step;
    int reg; /* what it makes */
    bool wide;
} writing;

/* The integer next to x that is not beyond what 64 bits hold; the least one is
 * no literal. */
static void add_bound(mo_cuda_source *code, double x)
{
    if (x >= 0x1p63)
        mo_cuda_source_append(code, "9223372036854775807LL");
    else if (x > -0x1p63)
        mo_cuda_source_printf(code, "%lldLL", (long long) x);
    else
        mo_cuda_source_append(code, "(-9223372036854775807LL - 1)");
}

/* Integers are clamped to those between two reals. */
static void add_number(const writing *w, char which)
{
    double x = which == 'x' ? w->step->x : w->step->y;

    if (w->step->op == MO_POINT_I_CLAMP)
        add_bound(w->code, which == 'x' ? ceil(x) : floor(x));
    else
        mo_cuda_emit_real(w->code, x, w->wide);
}

static void add_mark(const writing *w, char mark)
{
    switch (mark) {
    case 'a':
        mo_cuda_source_printf(w->code, "r%d", w->step->a);
        break;
    case 'b':
        mo_cuda_source_printf(w->code, "r%d", w->step->b);
        break;
    case 'c':
        mo_cuda_source_printf(w->code, "r%d", w->step->c);
        break;
    case 'R':
        mo_cuda_source_append(w->code, w->wide ? "double" : "float");
        break;
    case 'f':
        mo_cuda_source_append(w->code, w->wide ? "" : "f");
        break;
    case 't':
    case 'u':
        mo_cuda_source_printf(w->code, "%c%d", mark, w->reg);
        break;
    default:
        add_number(w, mark);
    }
}

static void add_template(const writing *w, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "@");

        mo_cuda_source_printf(w->code, "%.*s", (int) plain, text);
        text += plain;
        if (*text) {
            add_mark(w, text[1]);
            text += 2;
        }
    }
}

/* An element as it lies in memory, as a register. */
static void add_load(mo_cuda_source *code, mo_elem elem, const char *element)
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

/* What storing and loading would do to a real: halves are made from floats. */
static void add_round_to(const writing *w)
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

static void add_wrap(const writing *w)
{
    if (w->step->elem == MO_ELEM_BOOL)
        mo_cuda_source_printf(w->code, "r%d != 0", w->step->a);
    else
        mo_cuda_source_printf(w->code, "(long long) (%s) r%d",
                              mo_elem_is_float(w->step->elem)
                                  ? "long long"
                                  : mo_cuda_elem_type_name(w->step->elem),
                              w->step->a);
}

static const char *register_type(bool real, bool wide)
{
    return !real ? "long long" : wide ? "double" : "float";
}

static void add_step(const writing *w)
{
    const recipe *how = &recipes[w->step->op];
    bool real = mo_point_op_signature(w->step->op).real;

    if (how->before)
        add_template(w, how->before);
    mo_cuda_source_printf(
        w->code, "const %s r%d = ", register_type(real, w->wide), w->reg);
    if (w->step->op == MO_POINT_ROUND_TO)
        add_round_to(w);
    else if (w->step->op == MO_POINT_I_WRAP)
        add_wrap(w);
    else
        add_template(w, how->value);
    mo_cuda_source_append(w->code, ";\n");
}

/* ---- program */

static void add_operand(mo_cuda_source *code, mo_elem elem, int reg, bool wide,
                        const char *element)
{
    const char *type = register_type(mo_elem_is_float(elem), wide);

    mo_cuda_source_printf(code, "const %s r%d = ", type, reg);
    if (element)
        add_load(code, elem, element);
    else
        mo_cuda_source_append(code, "v");
    mo_cuda_source_append(code, ";\n");
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
        if (used[i])
            add_operand(code, point->operands[i].elem, i, wide, operands[i]);
    for (int i = 0; i < point->n_steps; i++) {
        writing w = { code, &point->steps[i], point->n_operands + i, wide };

        if (used[w.reg])
            add_step(&w);
    }
    snprintf(value, sizeof value, "r%d", point->result);
    mo_cuda_stored_expr(stored, value, result);
}
