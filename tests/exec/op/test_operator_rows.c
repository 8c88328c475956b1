/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/*
 * Tests of ingest/operators.def: every row that is lowered to one step or one
 * reduction computes what the scalar reference of that operation computes.  A
 * new row is tested without a line here; a new row of exec/op/points.def needs
 * one in tests/exec/cpu/reference_pointwise.c.
 */
#include <math.h>
#include <string.h>

#include "exec/op/lower.h"
#include "ingest/infer/rule.h"
#include "tests/exec/cpu/reference_pointwise.h"
#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

enum word {
    WORD_NONE,
    WORD_LOWER,
    WORD_UNARY,
    WORD_BINARY,
    WORD_BINARY_BY,
    WORD_VARIADIC,
    WORD_LOGICAL,
    WORD_BITWISE,
    WORD_REDUCE
};

/* The columns NAME and LOWERING. */
typedef struct row {
    const char *type;
    enum word word;
    mo_point_op on_reals;
    int on_integers;
    mo_call_reduce_op reduce;
} row;

#define LOWER_STEP(kind, real, integer)                                        \
    .word = WORD_##kind, .on_reals = MO_POINT_##real,                          \
    .on_integers = MO_POINT_##integer
#define LOWER_NONE                        .word = WORD_NONE
#define LOWER_LOWER(f, inputs)            .word = WORD_LOWER
#define LOWER_UNARY(real, integer)        LOWER_STEP(UNARY, real, integer)
#define LOWER_BINARY(real, integer)       LOWER_STEP(BINARY, real, integer)
#define LOWER_BINARY_BY(f, real, integer) LOWER_STEP(BINARY_BY, real, integer)
#define LOWER_VARIADIC(real, integer)     LOWER_STEP(VARIADIC, real, integer)
#define LOWER_LOGICAL(op)                 .word = WORD_LOGICAL, .on_integers = MO_POINT_##op
#define LOWER_BITWISE(op)                 .word = WORD_BITWISE, .on_integers = MO_POINT_##op
#define LOWER_REDUCE(op)                  .word = WORD_REDUCE, .reduce = MO_CALL_REDUCE_##op

static const row rows[] = {
#define OPERATOR(name, class, flops, shape, value, lowering)                   \
    { .type = #name, LOWER_##lowering },
#include "ingest/operators.def"
};

/* All pairs of a and b, quarters of integers: quotients of two that are not
 * integers are far from any. */
enum { N_A = 25, N_B = 23, N_PAIRS = N_A * N_B };

static double value_of(mo_elem elem, int input, int i)
{
    int quarters = input == 0 ? i % N_A - N_A / 2 : i / N_A - N_B / 2;

    if (elem == MO_ELEM_BOOL)
        return quarters % 2 != 0;
    return mo_elem_is_float(elem) ? quarters / 4.0 : quarters;
}

static bool is_one_step(const row *r)
{
    return r->word != WORD_NONE && r->word != WORD_LOWER &&
           r->word != WORD_REDUCE;
}

static bool takes_two(const row *r)
{
    return r->word != WORD_UNARY;
}

/* The result for a and b by the row; NAN where it has none. */
static double reference(const row *r, mo_elem elem, double a, double b)
{
    mo_point_step step = { .op = r->on_reals };

    if (mo_elem_is_float(elem))
        return mo_point_op_signature(step.op).real
                   ? slow_real(&step, a, b)
                   : (double) slow_test(step.op, a, b);
    if (r->on_integers == MO_POINT_KEEP)
        return a;
    if (r->on_integers == MO_POINT_AS_REAL)
        return round(slow_real(&step, a, b));
    step.op = (mo_point_op) r->on_integers;
    return (double) slow_integer(&step, (int64_t) a, (int64_t) b);
}

static mo_elem result_elem(const row *r, mo_elem elem)
{
    bool compares =
        r->word == WORD_BINARY && !mo_point_op_signature(r->on_reals).real;

    return compares ? MO_ELEM_BOOL : elem;
}

static bool is_near(mo_elem elem, double ours, double wanted)
{
    if (!mo_elem_is_float(
            elem)) /* an integer cannot be compared with what is not finite */
        return !isfinite(wanted) || ours == wanted;
    if (!isfinite(ours) || !isfinite(wanted))
        return ours == wanted || (isnan(ours) && isnan(wanted));
    return fabs(ours - wanted) <= 1e-5 * (1 + fabs(wanted));
}

static void check_step(const row *r, mo_elem elem)
{
    mo_shape shape = { 1, { N_PAIRS } };
    mo_elem made = result_elem(r, elem);
    op_case c = op_case_of(r->type, NULL);

    for (int k = 0; k <= takes_two(r); k++) {
        mo_tensor_dense *in = op_case_data(&c, elem, &shape, 1);

        for (int i = 0; i < N_PAIRS; i++)
            mo_tensor_set_double(in, i, value_of(elem, k, i));
    }
    op_case_makes(&c, made, &shape);
    op_case_run(&c);
    for (int i = 0; i < N_PAIRS; i++) {
        double a = value_of(elem, 0, i), b = value_of(elem, 1, i);
        double ours = mo_tensor_get_double(&c.result[0], i);
        double wanted = reference(r, elem, a, b);

        ck_assert_msg(is_near(made, ours, wanted), "%s(%g, %g) is %g, not %g",
                      r->type, a, b, ours, wanted);
    }
    op_case_clear(&c);
}

START_TEST(a_step_is_that_of_the_reference)
{
    const row *r = &rows[_i];

    if (!is_one_step(r))
        return;
    if (r->word == WORD_LOGICAL) {
        check_step(r, MO_ELEM_BOOL);
        return;
    }
    if (r->word != WORD_BITWISE)
        check_step(r, MO_ELEM_F32);
    if (r->word != WORD_BINARY_BY)
        check_step(r, MO_ELEM_I32);
}
END_TEST

enum { N_KEPT = 3, N_REDUCED = 5 };

static double fold(mo_call_reduce_op op, double a, double b)
{
    switch (op) {
    case MO_CALL_REDUCE_SUM:
    case MO_CALL_REDUCE_MEAN:
        return a + b;
    case MO_CALL_REDUCE_MAX:
        return fmax(a, b);
    case MO_CALL_REDUCE_MIN:
        return fmin(a, b);
    case MO_CALL_REDUCE_PROD:
        return a * b;
    case MO_CALL_REDUCE_L1:
        return fabs(a) + fabs(b);
    case MO_CALL_REDUCE_L2:
        return hypot(a, b);
    case MO_CALL_REDUCE_AND:
        return a != 0 && b != 0;
    case MO_CALL_REDUCE_OR:
        return a != 0 || b != 0;
    }
    ck_abort_msg("there is no reference of reduction %d", (int) op);
}

START_TEST(a_reduction_is_that_of_the_reference)
{
    const row *r = &rows[_i];
    bool logical =
        r->reduce == MO_CALL_REDUCE_AND || r->reduce == MO_CALL_REDUCE_OR;
    mo_elem elem = logical ? MO_ELEM_BOOL : MO_ELEM_F32;
    mo_shape shape = { 2, { N_KEPT, N_REDUCED } }, kept = { 1, { N_KEPT } };
    int64_t axis = 1;
    op_case c = op_case_of(r->type, NULL);
    mo_tensor_dense *in;

    if (r->word != WORD_REDUCE)
        return;
    in = op_case_data(&c, elem, &shape, 1);
    op_case_list(&c, &axis, 1);
    op_case_makes(&c, elem, &kept);
    op_case_run(&c);
    for (int k = 0; k < N_KEPT; k++) {
        double wanted = mo_tensor_get_double(in, k * N_REDUCED);
        double ours = mo_tensor_get_double(&c.result[0], k);

        for (int i = 1; i < N_REDUCED; i++)
            wanted = fold(r->reduce, wanted,
                          mo_tensor_get_double(in, k * N_REDUCED + i));
        if (r->reduce == MO_CALL_REDUCE_MEAN)
            wanted /= N_REDUCED;
        ck_assert_msg(is_near(elem, ours, wanted), "%s is %g, not %g", r->type,
                      ours, wanted);
    }
    op_case_clear(&c);
}
END_TEST

/* Operators that can be run although the shapes they claim are not checked:
 * OpenVINO has no such operator, or not under this name. */
static const char *const unchecked[] = {
    "Addmm",
    "ArgMax",
    "ArgMin",
    "Copy",
    "DequantizeBlocks",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "InstanceNormalization",
    "LeakyReLU",
    "LayerNormalization",
    "Linear",
    "LinearExperts",
    "MaskedFill",
    "Reciprocal",
    "ReLU6",
    "Rsqrt",
    "Softsign",
    "Square",
};

START_TEST(what_can_be_run_has_a_shape_rule)
{
    bool listed = false;

    for (int i = 0; i < COUNT(unchecked); i++)
        listed = listed || strcmp(unchecked[i], rows[_i].type) == 0;
    if (rows[_i].word != WORD_NONE)
        ck_assert_msg(!mo_infer_rule_find(rows[_i].type) == listed, "%s",
                      rows[_i].type);
    ck_assert_msg(!mo_lower_entry_find(rows[_i].type) ==
                      (rows[_i].word == WORD_NONE),
                  "%s", rows[_i].type);
}
END_TEST

SUITE(operator_rows)
{
    EACH(a_step_is_that_of_the_reference, COUNT(rows));
    EACH(a_reduction_is_that_of_the_reference, COUNT(rows));
    EACH(what_can_be_run_has_a_shape_rule, COUNT(rows));
}
