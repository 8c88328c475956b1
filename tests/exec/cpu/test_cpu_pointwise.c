/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/point_program.h and exec/backend/cpu/pointwise/pointwise.h:
 * programs of all kinds against a reference interpreter. */
#include <math.h>

#include "exec/backend/cpu/pointwise/pointwise.h"
#include "tests/exec/support/call_case.h"
#include "tests/exec/cpu/reference_pointwise.h"
#include "tests/support/suite.h"

/* Values in the domain of the function. */
static void fill_for(mo_point_op op, mo_tensor_dense *dense, int operand)
{
    int64_t n = mo_tensor_desc_elements(&dense->desc);

    for (int64_t i = 0; i < n; i++) {
        double x = mo_tensor_get_double(dense, i);

        switch (op) {
        case MO_POINT_LOG:
        case MO_POINT_SQRT:
            x = fabs(x) * 50;
            break;
        case MO_POINT_ACOSH:
            x = 1 + fabs(x) * 50;
            break;
        case MO_POINT_ASIN:
        case MO_POINT_ACOS:
        case MO_POINT_ATANH:
            x *= 0.99;
            break;
        case MO_POINT_POWER:
            x = operand == 0 ? fabs(x) * 5 : x * 3;
            break;
        case MO_POINT_MOD:
        case MO_POINT_FLOOR_MOD:
            x = operand == 0 ? x * 20 : x * 3 + (x < 0 ? -1 : 1);
            break;
        case MO_POINT_DIVIDE:
        case MO_POINT_RECIPROCAL:
            x = x * 3 + (x < 0 ? -0.1 : 0.1);
            break;
        case MO_POINT_TAN:
            break;
        default:
            x *= 6;
        }
        mo_tensor_set_double(dense, i, x);
    }
}

/* A remainder near a multiple may fall on either side of it. */
static bool is_near(const mo_point_step *step, double fast, double slow,
                    double divisor, double tolerance)
{
    double off = fabs(fast - slow);

    if (off <= tolerance * (1 + fabs(slow)))
        return true;
    if (step->op != MO_POINT_MOD && step->op != MO_POINT_FLOOR_MOD)
        return false;
    return fabs(off - fabs(divisor)) <= 20 * tolerance * fabs(divisor);
}

static void check_op(mo_point_op op, mo_elem elem)
{
    mo_point_signature kind = mo_point_op_signature(op);
    call_case c;
    mo_point_program *point = &c.call.u.point;
    mo_point_step step = {
        .op = op, .b = 1, .x = 0.7, .y = 1.3, .elem = MO_ELEM_F16
    };
    mo_tensor_dense *in[2], *out;

    case_begin(&c, MO_CALL_POINT);
    for (int i = 0; i < kind.arity; i++) {
        in[i] = case_in(&c, elem, shape_of(1, (int64_t) 3001), 11);
        fill_for(op, in[i], i);
        point->operands[i] =
            (mo_point_operand){ elem,
                                mo_point_access_dense(&in[i]->desc.shape) };
        point->n_operands++;
    }
    step.b = kind.arity > 1;
    point->result = mo_point_push_step(point, step);
    out = case_out(&c, kind.real ? elem : MO_ELEM_I64,
                   shape_of(1, (int64_t) 3001));
    point->out = mo_point_access_dense(&out->desc.shape);
    case_run(&c, 1);
    for (int64_t i = 0; i < 3001; i++) {
        double a = mo_tensor_get_double(in[0], i);
        double b = kind.arity > 1 ? mo_tensor_get_double(in[1], i) : 0;
        double slow = slow_real(&step, a, b);

        ck_assert_msg(is_near(&step, mo_tensor_get_double(out, i), slow, b,
                              elem == MO_ELEM_F64 ? 1e-14 : 3e-6),
                      "operation %d of %a, %a: %a, not %a", (int) op, a, b,
                      mo_tensor_get_double(out, i), slow);
    }
    case_end(&c);
}

START_TEST(every_operation_on_reals_is_right)
{
    check_op((mo_point_op) _i, MO_ELEM_F32);
    check_op((mo_point_op) _i, MO_ELEM_F64);
}
END_TEST

static const int64_t integers[] = {
    0, 1, -1, 2, -2, 3, 7, -7, 10, 63, 100, -128, 255, 70000, -70000,
};

START_TEST(every_operation_on_integers_is_right)
{
    mo_point_op op = (mo_point_op) _i;
    mo_shape square = { 2, { COUNT(integers), COUNT(integers) } };
    mo_shape column = { 2, { COUNT(integers), 1 } };
    mo_tensor_desc desc = { MO_ELEM_I64, square };
    call_case c;
    mo_point_program *point = &c.call.u.point;
    mo_tensor_dense *a, *b, *out, slow = { 0 };
    const void *operands[2];

    case_begin(&c, MO_CALL_POINT);
    a = case_in(&c, MO_ELEM_I64, column, 1);
    b = case_in(&c, MO_ELEM_I64, shape_of(1, (int64_t) COUNT(integers)), 2);
    for (int i = 0; i < COUNT(integers); i++) {
        mo_tensor_set_int(a, i, integers[i]);
        mo_tensor_set_int(b, i, integers[i]);
    }
    operands[0] = a->data;
    operands[1] = b->data;
    point->n_operands = 2;
    point->operands[0] =
        (mo_point_operand){ MO_ELEM_I64,
                            mo_point_access_broadcast(&column, &square) };
    point->operands[1] = (mo_point_operand){
        MO_ELEM_I64, mo_point_access_broadcast(&b->desc.shape, &square)
    };
    point->result = mo_point_push_step(
        point, (mo_point_step){
                   .op = op, .b = 1, .x = -6.5, .y = 9.5, .elem = MO_ELEM_I8 });
    out = case_out(&c, MO_ELEM_I64, square);
    point->out = mo_point_access_dense(&square);
    case_run(&c, 2);
    MUST(mo_tensor_new(&desc, &slow, &err));
    slow_point_run(point, &desc, operands, &slow);
    ck_assert_msg(
        memcmp(out->data, slow.data, (size_t) mo_tensor_desc_bytes(&desc)) == 0,
        "operation %d", _i);
    mo_tensor_clear(&slow);
    case_end(&c);
}
END_TEST

/* Operands and a result of a random program, in a case of its own. */
static void random_case(uint64_t seed, int64_t most, bool doubles, call_case *c)
{
    mo_random random = { seed };
    mo_shape shape = random_extents(&random, most);
    mo_point_program *point = &c->call.u.point;
    mo_elem elem;
    int n = 1 + mo_random_below(&random, 4);

    case_begin(c, MO_CALL_POINT);
    for (int i = 0; i < n; i++) {
        int64_t elements;
        mo_point_access access = random_access(&random, &shape, &elements);

        do
            elem = (mo_elem) mo_random_below(&random, MO_ELEM_COUNT);
        while (elem == MO_ELEM_F64 && !doubles);
        case_in(c, elem, shape_of(1, elements), seed);
        point->operands[i] = (mo_point_operand){ elem, access };
        point->n_operands++;
    }
    do
        elem = (mo_elem) mo_random_below(&random, MO_ELEM_COUNT);
    while (elem == MO_ELEM_F64 && !doubles);
    random_steps(&random, point, elem);
    point->out = random_layout(&random, &shape);
    case_out(c, elem, shape);
}

static void slow_case(const call_case *c, mo_tensor_dense *slow)
{
    const void *operands[CASE_OPERANDS];

    for (int i = 0; i < c->call.n_in; i++)
        operands[i] = c->in[i].data;
    MUST(mo_tensor_new(&c->out[0].desc, slow, &err));
    slow_point_run(&c->call.u.point, &c->out[0].desc, operands, slow);
}

/* The same bits; zeros may differ in sign, and NaN in its bits. */
static void check_same(const mo_tensor_dense *a, const mo_tensor_dense *b,
                       int seed)
{
    int64_t n = mo_tensor_desc_elements(&a->desc);
    char text[MO_TENSOR_DESC_TEXT_SIZE];

    for (int64_t i = 0; i < n; i++) {
        double x = mo_tensor_get_double(a, i), y = mo_tensor_get_double(b, i);

        ck_assert_msg(x == y || (x != x && y != y),
                      "seed %d: element %lld of %s is %a, not %a", seed,
                      (long long) i, mo_tensor_desc_format(&a->desc, text), x,
                      y);
    }
}

START_TEST(random_programs_do_what_their_steps_say)
{
    call_case c;
    mo_tensor_dense slow = { 0 };

    random_case((uint64_t) _i, _i % 10 == 0 ? 60000 : 4000, true, &c);
    if (_i % 10 == 0)
        case_run_threads(&c);
    else
        case_run(&c, 1);
    slow_case(&c, &slow);
    check_same(&c.out[0], &slow, _i);
    mo_tensor_clear(&slow);
    case_end(&c);
}
END_TEST

START_TEST(a_result_may_be_made_in_parts)
{
    call_case c;
    mo_tensor_dense slow = { 0 };
    mo_random random = { (uint64_t) _i };
    mo_cpu_point_program *program;
    const void *operands[CASE_OPERANDS];
    void *scratch;
    int64_t n;

    random_case((uint64_t) _i + 1000000, 5000, true, &c);
    slow_case(&c, &slow);
    MUST(mo_cpu_point_program_new(&c.call.u.point, &c.out[0].desc, &program,
                                  &err));
    scratch = malloc(mo_cpu_point_program_scratch_size(program) + 1);
    for (int i = 0; i < c.call.n_in; i++)
        operands[i] = c.in[i].data;
    n = mo_tensor_desc_elements(&c.out[0].desc);
    for (int64_t at = 0, part; at < n; at += part) {
        part = 1 + mo_random_below(&random, 1500);
        part = part < n - at ? part : n - at;
        mo_cpu_point_program_run(program, operands, c.out[0].data, at, part,
                                 scratch);
    }
    check_same(&c.out[0], &slow, _i);
    free(scratch);
    mo_cpu_point_program_free(program);
    mo_tensor_clear(&slow);
    case_end(&c);
}
END_TEST

/* Joins second to first at operand at of second, which reads the result of
 * first in the same layout. */
static void check_join(call_case *first, call_case *second, int at, int seed)
{
    mo_elem stored = first->out[0].desc.elem;
    mo_point_program *behind = &second->call.u.point;
    mo_point_program joined = { 0 };
    call_case c;

    behind->operands[at] =
        (mo_point_operand){ stored, first->call.u.point.out };
    mo_tensor_clear(&second->in[at]);
    second->in[at] = first->out[0];
    second->in[at].own = false;
    case_run(first, 1);
    case_run(second, 1);
    ck_assert(mo_point_fuse(&first->call.u.point, stored, behind, at, &joined));
    case_begin(&c, MO_CALL_POINT);
    c.call.u.point = joined;
    for (int i = 0; i < first->call.n_in + second->call.n_in; i++) {
        int own = i - first->call.n_in;
        const mo_tensor_dense *from =
            own < 0 ? &first->in[i] : &second->in[own];

        if (own == at)
            continue;
        c.in_number[c.call.n_in] = c.call.n_in;
        c.in[c.call.n_in] = *from;
        c.in[c.call.n_in++].own = false;
    }
    c.call.first_extra = c.call.n_in;
    case_out(&c, second->out[0].desc.elem, second->out[0].desc.shape);
    case_run(&c, 1);
    check_same(&c.out[0], &second->out[0], seed);
    case_end(&c);
}

START_TEST(a_joined_program_does_what_both_do)
{
    call_case first, second;
    mo_random random = { (uint64_t) _i };
    mo_shape shape;
    mo_point_program *point = &second.call.u.point;
    mo_elem elem;
    int n = 1 + mo_random_below(&random, 3), at = mo_random_below(&random, n);

    random_case((uint64_t) _i + 2000000, 3000, false, &first);
    shape = first.out[0].desc.shape;
    case_begin(&second, MO_CALL_POINT);
    for (int i = 0; i < n; i++) {
        int64_t elements;
        mo_point_access access = random_access(&random, &shape, &elements);

        elem = i == at ? first.out[0].desc.elem : MO_ELEM_F32;
        case_in(&second, elem, shape_of(1, elements), (uint64_t) _i);
        point->operands[i] = (mo_point_operand){ elem, access };
        point->n_operands++;
    }
    elem = _i % 2 ? MO_ELEM_F32 : MO_ELEM_I16;
    random_steps(&random, point, elem);
    point->out = random_layout(&random, &shape);
    case_out(&second, elem, shape);
    check_join(&first, &second, at, _i);
    case_end(&first);
    case_end(&second);
}
END_TEST

START_TEST(programs_that_are_too_long_are_not_joined)
{
    mo_shape shape = { 1, { 4 } };
    mo_point_program point = { .n_operands = 1 }, joined;

    point.operands[0].access = point.out = mo_point_access_dense(&shape);
    for (int i = 0; i < MO_POINT_MAX_STEPS / 2; i++)
        point.result = mo_point_push_step(
            &point, (mo_point_step){ .op = MO_POINT_ABS, .a = i });
    ck_assert(mo_point_fuse(&point, MO_ELEM_F32, &point, 0, &joined));
    ck_assert(!mo_point_fuse(&point, MO_ELEM_F16, &point, 0, &joined));
    ck_assert(!mo_point_fuse(&joined, MO_ELEM_F32, &point, 0, &point));
    for (int i = 1; i < MO_POINT_MAX_OPERANDS; i++)
        point.operands[point.n_operands++] = point.operands[0];
    point.n_steps = 0;
    point.result = 0;
    ck_assert(!mo_point_fuse(&point, MO_ELEM_F32, &point, 0, &joined));
}
END_TEST

START_TEST(a_result_may_lie_where_its_operand_does)
{
    mo_tensor_desc desc = { MO_ELEM_F32, { 1, { 3000 } } };
    mo_point_program point = { .n_operands = 1 };
    mo_cpu_point_program *program;
    mo_tensor_dense x = { 0 };
    void *scratch;
    const void *operands[1];

    point.operands[0].access = point.out = mo_point_access_dense(&desc.shape);
    point.result = mo_point_push_step(
        &point, (mo_point_step){ .op = MO_POINT_AFFINE, .x = 2, .y = 1 });
    MUST(mo_tensor_new(&desc, &x, &err));
    for (int64_t i = 0; i < 3000; i++)
        mo_tensor_set_double(&x, i, (double) i);
    MUST(mo_cpu_point_program_new(&point, &desc, &program, &err));
    scratch = malloc(mo_cpu_point_program_scratch_size(program) + 1);
    operands[0] = x.data;
    mo_cpu_point_program_run(program, operands, x.data, 0, 3000, scratch);
    for (int64_t i = 0; i < 3000; i++)
        ck_assert(mo_tensor_get_double(&x, i) == 2.0 * (double) i + 1);
    free(scratch);
    mo_cpu_point_program_free(program);
    mo_tensor_clear(&x);
}
END_TEST

SUITE(cpu_pointwise)
{
    tcase_add_loop_test(tests, every_operation_on_reals_is_right, 0,
                        MO_POINT_EQUAL);
    tcase_add_loop_test(tests, every_operation_on_integers_is_right,
                        MO_POINT_I_ABS, MO_POINT_TO_REAL);
    SOME(random_programs_do_what_their_steps_say, 1500, 30);
    SOME(a_result_may_be_made_in_parts, 300, 20);
    SOME(a_joined_program_does_what_both_do, 500, 20);
    TEST(programs_that_are_too_long_are_not_joined);
    TEST(a_result_may_lie_where_its_operand_does);
}
