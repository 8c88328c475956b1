/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/time_origin.h: what limits a time, and where it comes from. */
#include "cost/time_origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/problem.h"
#include "tests/support/suite.h"

/* 10^10 flops and 5 * 10^8 bytes in a millisecond. */
static const mo_device plain = {
    .id = "plain",
    .gflops = { 10000 },
    .bandwidth_gbs = 500,
    .launch_us = 5,
};

static const struct {
    mo_workload work;
    mo_time_limit limit;
} limits[] = {
    { { .class = MO_CLASS_MATMUL, .flops = 1e9, .bytes = 1e3 },
      MO_TIME_LIMIT_COMPUTE },
    { { .class = MO_CLASS_MATMUL, .flops = 1e3, .bytes = 1e8 },
      MO_TIME_LIMIT_MEMORY },
    { { .class = MO_CLASS_MATMUL, .flops = 1e3, .bytes = 1e3 },
      MO_TIME_LIMIT_LAUNCH },
    { { .class = MO_CLASS_SOFTMAX, .flops = 1e3, .bytes = 1e8 },
      MO_TIME_LIMIT_MEMORY },
    /* Close to each other, the larger one. */
    { { .class = MO_CLASS_SOFTMAX, .flops = 5e8, .bytes = 2.9e7 },
      MO_TIME_LIMIT_COMPUTE },
    { { .class = MO_CLASS_SOFTMAX, .flops = 5e8, .bytes = 3.3e7 },
      MO_TIME_LIMIT_MEMORY },
    { { .class = MO_CLASS_FREE }, MO_TIME_LIMIT_NONE },
};

START_TEST(the_limit_is_what_the_time_depends_on)
{
    const mo_predictor roofline = { 0 };
    const mo_predictor_input basis = { limits[_i].work, NAN };
    double us = mo_predictor_input_us(&roofline, &basis, &plain);
    mo_time_origin origin =
        mo_time_origin_predicted(&roofline, &basis, &plain, us);

    ck_assert_int_eq(origin.source, MO_TIME_PREDICTED);
    ck_assert_int_eq(origin.limit, limits[_i].limit);
    ck_assert_int_eq(origin.math, MO_MATH_F32);
    ck_assert(isnan(origin.error)); /* no such device was measured */
}
END_TEST

/* Errors are those of the generations that were measured. */
START_TEST(predictions_have_the_error_of_their_model)
{
    static const struct {
        const char *device;
        mo_workload work;
        bool known;
    } cases[] = {
        { "t4",
          { .class = MO_CLASS_MATMUL, .flops = 1e9, .bytes = 1e6 },
          true },
        { "a100",
          { .class = MO_CLASS_MATMUL, .flops = 1e9, .bytes = 1e6 },
          false },
        { "a100",
          { .class = MO_CLASS_MATMUL,
            .flops = 2e9,
            .bytes = 6e6,
            .output_elements = 1e6,
            .math = MO_MATH_F16,
            .product = { 1, 1000, 1000, 1000, 2, 2, 2, 0 } },
          true },
        { "t4", { .class = MO_CLASS_POOL, .flops = 1e9, .bytes = 1e6 }, false },
        { "epyc-9654",
          { .class = MO_CLASS_MATMUL, .flops = 1e9, .bytes = 1e6 },
          false },
    };
    const mo_predictor roofline = { 0 };

    for (int i = 0; i < COUNT(cases); i++) {
        mo_device device =
            mo_device_from_model(mo_device_find(cases[i].device));
        const mo_predictor_input basis = { cases[i].work, NAN };
        mo_time_origin origin =
            mo_time_origin_predicted(&roofline, &basis, &device, 100);

        ck_assert_int_eq(!isnan(origin.error), cases[i].known);
        ck_assert_int_eq(origin.math, cases[i].work.math);
        if (cases[i].known)
            ck_assert(origin.error > 0 && origin.error < 1);
    }
}
END_TEST

static mo_time_origin origin_of(const problem *p, const char *op, int device)
{
    return p->x->origins[problem_op(p, op) * p->x->n_devices + device];
}

/* Op a has the first signature of the profile below, with a spread of a
 * tenth. */
START_TEST(every_time_has_an_origin)
{
    static const char graph[] = "a op=Strange flops=1e9 bytes=1e6 shape=3;"
                                "b op=ReLU flops=1e3 bytes=1e9 t.A=7;"
                                "c op=Odd t.A=3 pin=A;"
                                "a>b bytes=8; b>c bytes=8";
    static const char cluster[] = "A model=t4; B model=v100; A-B gbps=8";
    mo_graph *g = problem_graph(graph);
    problem p = { .explain = true };
    mo_out *out;
    size_t size;
    char *profile;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "<profile><op device='t4' median_us='50' spread_us='5' "
                     "count='9' signature='");
    mo_profile_signature(g, 0, out);
    mo_out_text(out, "'/></profile>");
    profile = mo_out_take(out, &size);
    mo_out_abandon(out);
    ck_assert_int_eq(problem_try_graph(&p, g, cluster, profile), MO_OK);
    ck_assert_int_eq(origin_of(&p, "a", 0).source, MO_TIME_MEASURED);
    ck_assert_double_eq_tol(origin_of(&p, "a", 0).error, 0.1, 1e-9);
    ck_assert_int_eq(origin_of(&p, "a", 0).limit, MO_TIME_LIMIT_NONE);
    ck_assert_int_eq(origin_of(&p, "a", 1).source, MO_TIME_PREDICTED);
    ck_assert_int_eq(origin_of(&p, "b", 0).source, MO_TIME_GIVEN);
    ck_assert_int_eq(origin_of(&p, "b", 1).source, MO_TIME_PREDICTED);
    ck_assert_int_eq(origin_of(&p, "b", 1).limit, MO_TIME_LIMIT_MEMORY);
    ck_assert_int_eq(origin_of(&p, "c", 0).source, MO_TIME_GIVEN);
    ck_assert_int_eq(origin_of(&p, "c", 1).source, MO_TIME_ELSEWHERE);
    problem_clear(&p);
    free(profile);

    problem_make(&p, graph, cluster, NULL); /* cleared: nothing to explain */
    ck_assert_ptr_null(p.x->origins);
    problem_clear(&p);
}
END_TEST

START_TEST(scaled_times_are_not_predicted_ones)
{
    problem p = { .cost = "wave:t4", .explain = true };

    problem_make(&p, "a op=ReLU flops=1e3 bytes=1e9 t.t4=7",
                 "A model=t4; B model=v100; A-B gbps=8", NULL);
    ck_assert_int_eq(origin_of(&p, "a", 0).source, MO_TIME_GIVEN);
    ck_assert_int_eq(origin_of(&p, "a", 1).source, MO_TIME_SCALED);
    ck_assert_int_eq(origin_of(&p, "a", 1).limit, MO_TIME_LIMIT_MEMORY);
    problem_clear(&p);
}
END_TEST

SUITE(time_origin)
{
    EACH(the_limit_is_what_the_time_depends_on, COUNT(limits));
    TEST(predictions_have_the_error_of_their_model);
    TEST(every_time_has_an_origin);
    TEST(scaled_times_are_not_predicted_ones);
}
