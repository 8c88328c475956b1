/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/baselines/getf.c, sct.c and pesto.c: the rows of small
 * cases. */
#include <string.h>

#include "models/sink/scale.h"
#include "tests/support/model_case.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

static const mo_regime port = { .congestion = MO_CONGESTION_PORT };

/* One op read by two; d reads two tensors, so three flows. */
#define FORK                                                                   \
    "a t.A=100 t.B=300; b t.A=200 t.B=200; d t.A=50 t.B=150; "                 \
    "a>b c.A.B=10 c.B.A=30 tensor=0; a>d c.A.B=30 c.B.A=51 tensor=1; "         \
    "a>d c.A.B=1 c.B.A=1 tensor=2"
#define TWO_DEVICES "A memory_bytes=100; B memory_bytes=100; A-B gbps=8"

static const struct {
    const mo_formulation *formulation;
    const char *family, *rows;
} rows[] = {
    { &mo_formulation_getf, "assignment",
      "x_0_0 + x_0_1 = 1\nx_1_0 + x_1_1 = 1\nx_2_0 + x_2_1 = 1\n" },
    { &mo_formulation_getf, "chain",
      "c_0 - 100 x_0_0 - 300 x_0_1 >= 0\n"
      "c_1 - c_0 - 200 x_1_0 - 200 x_1_1 >= 0\n"
      "c_2 - c_0 - 50 x_2_0 - 150 x_2_1 >= 0\n" },
    { &mo_formulation_getf, "makespan", "w - c_1 >= 0\nw - c_2 >= 0\n" },
    { &mo_formulation_getf, "load",
      "w - 100 x_0_0 - 200 x_1_0 - 50 x_2_0 >= 0\n"
      "w - 300 x_0_1 - 200 x_1_1 - 150 x_2_1 >= 0\n" },
    /* The means: 200, 200 and 100; 20, 40.5 and 1. */
    { &mo_formulation_sct, "precedence",
      "s_1 - s_0 - 20 f_0 >= 200\n"
      "s_2 - s_0 - 40.5 f_1 >= 200\n"
      "s_2 - s_0 - f_2 >= 200\n" },
    { &mo_formulation_sct, "makespan", "w - s_1 >= 200\nw - s_2 >= 100\n" },
    { &mo_formulation_sct, "child", "f_0 + f_1 + f_2 >= 2\n" },
    { &mo_formulation_sct, "parent", "f_0 >= 0\nf_1 + f_2 >= 1\n" },
};

START_TEST(baselines_have_the_rows_of_their_authors)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, FORK, TWO_DEVICES, NULL);
    model_case_open(&c, &p, rows[_i].formulation, &port, false);
    ck_assert_str_eq(model_case_rows(&c, rows[_i].family), rows[_i].rows);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(means_have_no_bound_that_was_found_with_true_times)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, "a t.A=100 t.B=90000", TWO_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_sct, &port, false);
    ck_assert_str_eq(model_case_columns(&c), "w 0 .. inf\ns_0 0 .. inf\n");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(sct_on_one_device_has_nothing_to_send)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, "* t.A=100; *>* bytes=8; a; b; a>b", "A", NULL);
    model_case_open(&c, &p, &mo_formulation_sct, &port, false);
    ck_assert_str_eq(model_case_rows(&c, "precedence"), "s_1 - s_0 >= 100\n");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* Devices that have columns, of three with these total times. */
static const struct {
    const char *graph, *columns;
} fastest[] = {
    { "a t.A=300 t.B=100 t.C=200", "x_0_1 binary\nx_0_2 binary\n" },
    { "a t.A=100 t.B=300 t.C=200", "x_0_0 binary\nx_0_2 binary\n" },
    { "a t.A=100 t.B=200 t.C=200", "x_0_0 binary\nx_0_1 binary\n" },
    { "a t.A=200 t.B=200 t.C=200", "x_0_0 binary\nx_0_1 binary\n" },
};
#define THREE_DEVICES "A; B model=t4; C model=p100; A-B gbps=8; B-C gbps=8"

START_TEST(pesto_takes_the_two_fastest_devices)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, fastest[_i].graph, THREE_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_pesto, &port, false);
    ck_assert_ptr_nonnull(strstr(model_case_columns(&c), fastest[_i].columns));
    ck_assert_str_eq(model_case_rows(&c, "sent"), "");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(pesto_refuses_pins_to_other_devices)
{
    problem p = { 0 };
    mo_frame *frame = NULL;
    void *state = NULL;
    mo_error refusal = { 0 };

    problem_make(&p,
                 "a t.A=300 t.B=100 t.C=200; "
                 "b t.A=300 t.B=100 t.C=200 pin=A",
                 THREE_DEVICES, NULL);
    MUST(mo_frame_make(p.x, &port, false, &frame, &err));
    ck_assert_int_eq(mo_formulation_pesto.prepare(frame, &state, &refusal),
                     MO_E_INPUT);
    ck_assert_str_eq(refusal.text,
                     "op 'b' is pinned to 'A', but pesto places on the two "
                     "fastest devices only: 'B' and 'C'");
    mo_frame_free(frame);
    problem_clear(&p);
}
END_TEST

/* Each device runs one op in no time.  Without C some op needs an hour. */
#define HOUR_WITHOUT_C                                                         \
    "a t.A=1 t.B=3600000000 t.C=3700000000;"                                   \
    "b t.A=3600000000 t.B=1 t.C=3700000000;"                                   \
    "c t.A=3600000000 t.B=3600000000 t.C=1"

START_TEST(pesto_has_the_unit_and_the_horizon_of_two_devices)
{
    const int64_t hour_ns = INT64_C(3600) * 1000 * 1000 * 1000;
    problem p = { 0 };
    model_case c;

    problem_make(&p, HOUR_WITHOUT_C, THREE_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_pesto, &port, false);
    ck_assert_int_lt(c.frame->horizon_ns, hour_ns);
    ck_assert_int_ge(c.model.frame->horizon_ns, hour_ns);
    ck_assert_int_lt(c.model.frame->horizon_ns, 3 * hour_ns);
    ck_assert_int_eq(c.model.frame->unit_ns,
                     mo_scale_unit_ns(c.model.frame->horizon_ns));
    ck_assert(model_case_largest(&c) <= 1e6);
    ck_assert(mo_model_has_start(&c.model));
    ck_assert(model_case_violation(&c) < 1e-6);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(pesto_keeps_longer_schedules_when_asked)
{
    problem p = { 0 };
    mo_identity identity = { 0 };
    mo_frame *frame = NULL;
    mo_model model;

    problem_make(&p, HOUR_WITHOUT_C, THREE_DEVICES, NULL);
    MUST(mo_frame_make_open(p.x, &port, false, 2, &frame, &err));
    MUST(mo_model_make(&mo_formulation_pesto, frame, &identity, &model, &err));
    ck_assert_ptr_ne(model.frame, frame);
    ck_assert_int_eq(model.frame->upper_ns,
                     2 * model.frame->start->makespan_ns);
    mo_model_clear(&model);
    mo_frame_free(frame);
    problem_clear(&p);
}
END_TEST

/* Two flows, two directions. */
START_TEST(pesto_orders_transfers_by_direction)
{
    mo_regime none = { .congestion = MO_CONGESTION_NONE };
    problem p = { 0 };
    model_case c;

    problem_make(&p, "* t.A=100 t.B=100; *>* bytes=8; a; b; d; e; a>b; d>e",
                 TWO_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_pesto, &port, false);
    ck_assert_int_eq(model_case_count(&c, "congestion"), 4);
    ck_assert_int_eq(model_case_count(&c, "overlap"), 4 * 4);
    model_case_close(&c);
    model_case_open(&c, &p, &mo_formulation_pesto, &none, false);
    ck_assert_int_eq(model_case_count(&c, "congestion"), 0);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

static const mo_formulation *const all[] = { &mo_formulation_getf,
                                             &mo_formulation_sct,
                                             &mo_formulation_pesto };

START_TEST(starts_are_solutions)
{
    mo_regime regime = { .congestion = (mo_congestion) (_i % 4),
                         .memory = (mo_memory) (_i / 4 % 3) };
    const mo_formulation *formulation = all[_i % COUNT(all)];
    random_problem text;
    problem p = { 0 };
    mo_frame *frame = NULL;
    void *state = NULL;
    model_case c;

    random_problem_make(&text, (unsigned) _i);
    problem_make(&p, text.graph, text.cluster, NULL);
    MUST(mo_frame_make(p.x, &regime, false, &frame, &err));
    if (formulation->prepare(frame, &state, NULL) == MO_OK) {
        formulation->release(state);
        model_case_open(&c, &p, formulation, &regime, false);
        if (mo_model_has_start(&c.model))
            ck_assert_msg(model_case_violation(&c) < 1e-6, "seed %d", _i);
        model_case_close(&c);
    }
    mo_frame_free(frame);
    problem_clear(&p);
    random_problem_clear(&text);
}
END_TEST

SUITE(baseline_models)
{
    EACH(baselines_have_the_rows_of_their_authors, COUNT(rows));
    TEST(means_have_no_bound_that_was_found_with_true_times);
    TEST(sct_on_one_device_has_nothing_to_send);
    EACH(pesto_takes_the_two_fastest_devices, COUNT(fastest));
    TEST(pesto_refuses_pins_to_other_devices);
    TEST(pesto_has_the_unit_and_the_horizon_of_two_devices);
    TEST(pesto_keeps_longer_schedules_when_asked);
    TEST(pesto_orders_transfers_by_direction);
    SOME(starts_are_solutions, 300, 15);
}
