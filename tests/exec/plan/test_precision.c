/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/tensor/convert.h and exec/plan/passes/precision.c. */
#include <math.h>

#include "exec/tensor/convert.h"
#include "exec/plan/verify/verify.h"
#include "tests/exec/support/separate_memory.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

static const mo_elem halves[] = { MO_ELEM_F16, MO_ELEM_BF16 };

/* Random weights cancel more than trained ones. */
static const double tolerances[] = { 2e-2, 6e-2 };

static const struct {
    mo_elem elem;
    float x, stored;
} numbers[] = {
    { MO_ELEM_F16, 0, 0 },
    { MO_ELEM_F16, -1.5f, -1.5f },
    { MO_ELEM_F16, 65504, 65504 },
    { MO_ELEM_F16, 65519, 65504 },
    { MO_ELEM_F16, 65520, 65504 }, /* would be rounded to infinity */
    { MO_ELEM_F16, -3e38f, -65504 },
    { MO_ELEM_F16, INFINITY, INFINITY },
    { MO_ELEM_F16, -INFINITY, -INFINITY },
    { MO_ELEM_F16, 0x1p-24f, 0x1p-24f },
    { MO_ELEM_F16, 0x1p-26f, 0 },
    { MO_ELEM_F16, 1 + 0x1p-11f, 1 }, /* a tie, to even */
    { MO_ELEM_BF16, 1 + 0x1p-8f, 1 },
    { MO_ELEM_BF16, 3.4028235e38f, 0x1.fep127f },
    { MO_ELEM_BF16, -3.4028235e38f, -0x1.fep127f },
    { MO_ELEM_BF16, -INFINITY, -INFINITY },
};

START_TEST(finite_numbers_stay_finite)
{
    uint16_t half;
    float x;

    mo_tensor_narrow_f32(numbers[_i].elem, &numbers[_i].x, &half, 1);
    mo_tensor_widen_to_f32(numbers[_i].elem, &half, &x, 1);
    ck_assert_msg(x == numbers[_i].stored, "%g became %g, not %g",
                  (double) numbers[_i].x, (double) x,
                  (double) numbers[_i].stored);
}
END_TEST

START_TEST(what_is_no_number_stays_none)
{
    float x = NAN;
    uint16_t half;

    mo_tensor_narrow_f32(halves[_i], &x, &half, 1);
    x = 0;
    mo_tensor_widen_to_f32(halves[_i], &half, &x, 1);
    ck_assert(isnan(x));
}
END_TEST

START_TEST(any_address_will_do)
{
    char from[1 + 4 * 3], to[1 + 2 * 3], back[3 + 4 * 3];
    const float x[] = { 1, -2, 0.5f };
    float y[3];

    memcpy(from + 1, x, sizeof x);
    mo_tensor_narrow_f32(halves[_i], from + 1, to + 1, 3);
    mo_tensor_widen_to_f32(halves[_i], to + 1, back + 3, 3);
    memcpy(y, back + 3, sizeof y);
    for (int i = 0; i < 3; i++)
        ck_assert(x[i] == y[i]);
}
END_TEST

typedef struct running {
    random_plan made;
    plan_runner runner;
} running;

/* Images: floats throughout, without comparisons in between. */
static void make(running *r, unsigned seed, int n_devices, mo_elem storage_elem)
{
    memset(r, 0, sizeof *r);
    random_plan_of(&r->made, random_picture(seed), random_picture(seed), NULL,
                   seed, n_devices);
    mo_plan_free(r->made.plan);
    r->made.plan = NULL;
    r->made.source.storage_elem = storage_elem;
    r->made.source.fuse = seed % 2;
    r->made.source.layout = seed % 3 > 0;
    MUST(mo_plan_build(&r->made.source, &r->made.plan, &err));
    MUST(mo_verify_plan(r->made.plan, &err));
}

static void run(running *r, unsigned seed, const mo_backend *backend)
{
    plan_runner_begin(&r->runner, r->made.plan, seed);
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++)
        r->runner.backends[d] = backend;
    r->runner.options.warm_ups = 1;
    plan_runner_go(&r->runner);
}

static void clear(running *r)
{
    plan_runner_end(&r->runner);
    random_plan_clear(&r->made);
}

START_TEST(outputs_are_close_and_as_before)
{
    int n_devices = 1 + _i % 3;
    running full, half;

    make(&full, (unsigned) _i, 1, MO_ELEM_F32);
    make(&half, (unsigned) _i, n_devices, halves[_i % 2]);
    run(&full, (unsigned) _i, &mo_backend_cpu);
    run(&half, (unsigned) _i, _i % 4 < 2 ? &mo_backend_cpu : &separate_backend);
    check_outputs_close(&half.runner.result, &full.runner.result,
                        tolerances[_i % 2], _i);
    clear(&full);
    clear(&half);
}
END_TEST

START_TEST(nothing_inside_is_f32)
{
    running r;

    make(&r, (unsigned) _i, 2, MO_ELEM_F16);
    for (int v = 0; v < r.made.plan->n_values; v++)
        ck_assert_int_ne(r.made.plan->values[v].desc.elem, MO_ELEM_F32);
    for (int i = 0; i < r.made.plan->n_inputs; i++)
        ck_assert_int_ne(r.made.plan->inputs[i].desc.elem, MO_ELEM_F16);
    for (int c = 0; c < r.made.plan->n_calls; c++) {
        const mo_point_program *after = r.made.plan->calls[c].call.after;

        for (int k = 0; after && k < after->n_operands; k++)
            ck_assert_int_ne(after->operands[k].elem, MO_ELEM_F32);
    }
    clear(&r);
}
END_TEST

START_TEST(weights_take_half_the_bytes)
{
    running full, half;

    make(&full, (unsigned) _i, 1, MO_ELEM_F32);
    make(&half, (unsigned) _i, 1, MO_ELEM_BF16);
    ck_assert_int_le(half.made.plan->devices[0].weight_bytes,
                     full.made.plan->devices[0].weight_bytes);
    ck_assert_int_ge(2 * half.made.plan->devices[0].weight_bytes,
                     full.made.plan->devices[0].weight_bytes);
    clear(&full);
    clear(&half);
}
END_TEST

/* A widened output must be stored in a narrow type. */
START_TEST(other_outputs_are_not_widened)
{
    running r;

    make(&r, 4, 1, MO_ELEM_F32);
    ck_assert_int_gt(r.made.plan->n_outputs, 0);
    r.made.plan->outputs[0].widened = true;
    ck_assert_int_eq(mo_verify_plan(r.made.plan, NULL), MO_E_INPUT);
    clear(&r);
}
END_TEST

SUITE(precision)
{
    EACH(finite_numbers_stay_finite, COUNT(numbers));
    EACH(what_is_no_number_stays_none, COUNT(halves));
    EACH(any_address_will_do, COUNT(halves));
    SOME(outputs_are_close_and_as_before, 100, 8);
    SOME(nothing_inside_is_f32, 20, 4);
    SOME(weights_take_half_the_bytes, 20, 4);
    TEST(other_outputs_are_not_widened);
}
