/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/frame/memory_rows.h, in the rows of the paper's model. */
#include "models/frame/memory_rows.h"
#include "tests/support/model_case.h"
#include "tests/support/suite.h"

static const mo_regime fixed = { .memory = MO_MEMORY_STATIC };
static const mo_regime live = { .memory = MO_MEMORY_LIVE };

#define TIMES "* t.A=100 t.B=100; *>* bytes=40; "

static const struct {
    const char *graph, *cluster, *rows;
} cases[] = {
    /* Sizes are divided by their common divisor, and the capacity is rounded
     * down. */
    { TIMES "a memory_bytes=60; b memory_bytes=60",
      "A memory_bytes=100; B memory_bytes=119; A-B gbps=8",
      "x_0_0 + x_1_0 <= 1\nx_0_1 + x_1_1 <= 1\n" },
    { TIMES "a memory_bytes=60; b memory_bytes=50",
      "A memory_bytes=100; B memory_bytes=100; A-B gbps=8",
      "6 x_0_0 + 5 x_1_0 <= 10\n6 x_0_1 + 5 x_1_1 <= 10\n" },
    /* Where everything fits there is no row, nor where there is no limit. */
    { TIMES "a memory_bytes=60; b memory_bytes=50",
      "A memory_bytes=110; B memory_bytes=100; A-B gbps=8",
      "6 x_0_1 + 5 x_1_1 <= 10\n" },
    /* An op without memory is in no row. */
    { TIMES "a memory_bytes=60; b memory_bytes=50; d memory_bytes=0",
      "A memory_bytes=110; B memory_bytes=100; A-B gbps=8",
      "6 x_0_1 + 5 x_1_1 <= 10\n" },
    /* A size far over the capacity is clipped to twice the capacity. */
    { TIMES "a memory_bytes=1000000000000; b memory_bytes=1",
      "A memory_bytes=2000000000000; B memory_bytes=10; A-B gbps=8",
      "20 x_0_1 + x_1_1 <= 10\n" },
};

START_TEST(static_memory_is_a_sum)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, cases[_i].graph, cases[_i].cluster, NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &fixed, false);
    ck_assert_str_eq(model_case_rows(&c, "memory"), cases[_i].rows);
    ck_assert_str_eq(model_case_rows(&c, "space"), "");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* Three ops in a row, all of them clean cuts.  Only the first two exceed one
 * device: 30 of weights, 20 of workspace, two tensors. */
#define CHAIN TIMES "* memory_bytes=30 weight_bytes=10; a; b; d; a>b; b>d"

START_TEST(live_memory_is_bounded_between_cuts)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, CHAIN,
                 "A memory_bytes=100; B memory_bytes=200; A-B gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &live, false);
    ck_assert_str_eq(model_case_rows(&c, "memory"),
                     "5 x_0_0 + 5 x_1_0 + x_2_0 + a_0 + 4 y_0_1_0 + 4 y_1_1_0 "
                     "<= 10\n");
    ck_assert_str_eq(model_case_rows(&c, "space"),
                     "a_0 - 2 x_0_0 >= 0\na_0 - 2 x_1_0 >= 0\n"
                     "a_0 - 2 x_2_0 >= 0\n");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* b may take no time: while d starts, the output of a is not yet freed. */
START_TEST(a_cut_of_no_time_ends_no_segment)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p,
                 "* t.A=100; *>* bytes=40; a t.B=100; b t.B=0; d t.B=100;"
                 "e t.B=100; a>b; b>d; d>e",
                 "A memory_bytes=100; B memory_bytes=100; A-B gbps=8", NULL);
    for (int i = 0; i < p.x->n; i++)
        p.x->memory_bytes[i] = p.x->weight_bytes[i] = 0;
    model_case_open(&c, &p, &mo_formulation_paper, &live, false);
    ck_assert_str_eq(
        model_case_rows(&c, "memory"),
        "x_0_0 + x_1_0 + x_2_0 + y_0_1_0 + y_1_1_0 + y_2_1_0 <= 2\n"
        "x_0_1 + x_1_1 + x_2_1 + y_0_0_1 + y_1_0_1 + y_2_0_1 <= 2\n");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* By number, 0 on A and 1 on B; the need on A is weights, the largest
 * workspace, tensors produced there and tensors sent there. */
static const struct {
    int device[3];
    bool fits;
} placements[] = {
    { { 0, 0, 0 }, false }, /* 30 + 20 + 40 + 40 */
    { { 0, 0, 1 }, false }, /* 20 + 20 + 40 + 40 */
    { { 0, 1, 1 }, true },  /* 10 + 20 + 40 */
    { { 1, 0, 0 }, false }, /* 20 + 20 + 40 + 40 sent */
    { { 1, 1, 0 }, true },  /* 10 + 20 + 40 sent */
    { { 0, 1, 0 }, false }, /* 20 + 20 + 40 + 40 sent */
    { { 1, 1, 1 }, true },
};

START_TEST(placements_are_judged_as_by_the_rows)
{
    problem p = { 0 };
    mo_frame *frame = NULL;
    mo_memory_rows *rows = NULL;

    problem_make(&p, CHAIN,
                 "A memory_bytes=100; B memory_bytes=200; A-B gbps=8", NULL);
    MUST(mo_frame_make(p.x, &live, false, &frame, &err));
    MUST(mo_memory_rows_new(frame, &rows, &err));
    ck_assert_int_eq(mo_memory_rows_accept(rows, placements[_i].device),
                     placements[_i].fits);
    mo_memory_rows_free(rows);
    mo_frame_free(frame);
    problem_clear(&p);
}
END_TEST

START_TEST(a_device_left_out_has_no_rows)
{
    problem p = { 0 };
    mo_frame *frame = NULL;
    mo_memory_rows *rows = NULL;

    problem_make(&p, CHAIN,
                 "A memory_bytes=100; B memory_bytes=200; A-B gbps=8", NULL);
    MUST(mo_frame_make(p.x, &live, false, &frame, &err));
    MUST(mo_memory_rows_new(frame, &rows, &err));
    mo_memory_rows_exclude(rows, 0);
    ck_assert(mo_memory_rows_accept(rows, placements[0].device));
    mo_memory_rows_free(rows);
    mo_frame_free(frame);
    problem_clear(&p);
}
END_TEST

SUITE(memory_rows)
{
    EACH(static_memory_is_a_sum, COUNT(cases));
    TEST(live_memory_is_bounded_between_cuts);
    TEST(a_cut_of_no_time_ends_no_segment);
    EACH(placements_are_judged_as_by_the_rows, COUNT(placements));
    TEST(a_device_left_out_has_no_rows);
}
