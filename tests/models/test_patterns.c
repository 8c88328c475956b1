/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/patterns: columns and rows of a small set of patterns.  The
 * optimum is tested in tests/search/driver/test_export_patterns.c. */
#include <stdlib.h>
#include <string.h>

#include "models/formulation.h"
#include "models/patterns/pattern_set.h"
#include "tests/support/model_case.h"
#include "tests/support/suite.h"

/* a > b > c with a cut at b; the second segment is c alone. */
static const char graph[] = "* t.m=100 t.n=200; a; b; c; "
                            "*>* c.m.n=20 c.n.m=30; a>b; b>c";
static const char cluster[] = "A model=m; B model=n; A-B gbps=8";

typedef struct patterns_case {
    problem p;
    mo_pattern_set *set;
    model_case c;
} patterns_case;

/* A pattern of two ops, or of c alone, which reads b. */
static void add(patterns_case *t, int segment, int from, int to, bool known)
{
    bool sends = segment == 1 && from != to;
    int64_t p_ns = to == 0 ? 100000 : 200000, c_ns = from == 0 ? 20000 : 30000;
    int device[] = { to, to };
    int64_t start_ns[] = { 0, p_ns };
    mo_transfer transfer = {
        .item = 1, .from = from, .to = to, .end_ns = c_ns
    };
    mo_pattern p = { .from = from,
                     .to = to,
                     .is_known = known,
                     .ns = 2 * p_ns,
                     .device = device,
                     .start_ns = start_ns };

    if (segment == 1) {
        start_ns[0] = sends ? c_ns : 0;
        p.ns = start_ns[0] + p_ns;
        p.transfers = &transfer;
        p.n_transfers = sends;
        p.to = 0;
    }
    MUST(mo_pattern_set_add(t->set, segment, &p, &err));
}

/* All of them, with the incumbent on A. */
static void open_case(patterns_case *t, const mo_formulation *formulation)
{
    static const int cuts[] = { 1 };
    static const int64_t first_ns[] = { 200000, 400000, 0, 0 };
    static const int64_t second_ns[] = { 100000, 0, INT64_MAX, 0 };
    mo_regime regime = { .memory = MO_MEMORY_STATIC };

    *t = (patterns_case){ 0 };
    problem_make(&t->p, graph, cluster, NULL);
    MUST(mo_pattern_set_new(t->p.x, 0, &t->set, &err));
    MUST(mo_pattern_set_cut(t->set, cuts, 1, &err));
    for (int k = 0; k < 2; k++)
        add(t, 0, 0, k, k == 0);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            add(t, 1, a, b, a == 0 && b == 0);
    t->set->has_known = true;
    MUST(mo_pattern_set_lower(t->set, 0, first_ns, &err));
    MUST(mo_pattern_set_lower(t->set, 1, second_ns, &err));
    MUST(mo_frame_make(t->p.x, &regime, false, &t->c.frame, &err));
    t->c.frame->patterns = t->set;
    MUST(mo_model_make(formulation, t->c.frame, &t->c.identity, &t->c.model,
                       &err));
}

static void close_case(patterns_case *t)
{
    model_case_close(&t->c);
    mo_pattern_set_free(t->set);
    problem_clear(&t->p);
}

START_TEST(rows_choose_one_pattern_for_each_segment)
{
    static const struct {
        const char *family, *rows;
    } claims[] = {
        { "choice", "p_0_0_0_0 + p_0_0_1_0 + p_2_0_0_0 = 1\n"
                    "p_1_0_0_0 + p_1_0_0_1 + p_1_1_0_0 + p_1_1_0_1 + "
                    "p_2_0_0_0 = 1\n" },
        { "boundary", "x_1_0 - p_1_0_0_0 - p_1_0_0_1 - p_2_0_0_0 = 0\n"
                      "x_1_1 - p_1_1_0_0 - p_1_1_0_1 = 0\n" },
        { "place", "x_0_0 - p_0_0_0_0 - p_2_0_0_0 = 0\nx_0_1 - p_0_0_1_0 = 0\n"
                   "x_1_0 - p_0_0_0_0 - p_2_0_0_0 = 0\nx_1_1 - p_0_0_1_0 = 0\n"
                   "x_2_0 - p_1_0_0_0 - p_1_1_0_0 - p_2_0_0_0 = 0\n"
                   "x_2_1 - p_1_0_0_1 - p_1_1_0_1 = 0\n" },
        { "finish",
          "c_1 - 200 p_0_0_0_0 - 400 p_0_0_1_0 - 200 p_2_0_0_0 = 0\n" },
        { "makespan", "w - c_1 - 100 p_1_0_0_0 - 220 p_1_0_0_1 - "
                      "130 p_1_1_0_0 - 200 p_1_1_0_1 - 100 p_2_0_0_0 >= 0\n" },
        { "begin",
          "s_0 = 0\ns_1 - 100 p_0_0_0_0 - 200 p_0_0_1_0 - 100 p_2_0_0_0 = 0\n"
          "s_2 - c_1 - 20 p_1_0_0_1 - 30 p_1_1_0_0 = 0\n" },
        { "send", "t_1 - c_1 = 0\n" },
    };
    patterns_case t;

    open_case(&t, &mo_formulation_patterns);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        ck_assert_str_eq(model_case_rows(&t.c, claims[i].family),
                         claims[i].rows);
    ck_assert(model_case_violation(&t.c) < 1e-9);
    ck_assert(mo_model_has_start(&t.c.model));
    close_case(&t);
}
END_TEST

START_TEST(lower_bounds_have_a_column_for_each_pair_of_devices)
{
    patterns_case t;

    open_case(&t, &mo_formulation_patterns_lower);
    ck_assert_str_eq(model_case_rows(&t.c, "choice"),
                     "p_0_0_0_0 + p_0_0_1_0 = 1\n"
                     "p_1_0_0_0 = 1\n"); /* from B there is no schedule */
    ck_assert_str_eq(model_case_rows(&t.c, "makespan"),
                     "w - c_1 - 100 p_1_0_0_0 >= 0\n");
    ck_assert_int_eq(model_case_count(&t.c, "begin"), 0);
    ck_assert(!mo_model_has_start(&t.c.model));
    close_case(&t);
}
END_TEST

START_TEST(equal_patterns_are_one)
{
    patterns_case t;

    open_case(&t, &mo_formulation_patterns);
    add(&t, 0, 0, 1, true);
    ck_assert_uint_eq(t.set->segments[0].n, 2);
    ck_assert(t.set->segments[0].patterns[1].is_known);
    ck_assert_int_eq(mo_pattern_set_entry(t.set, 0), MO_FREE);
    ck_assert_int_eq(mo_pattern_set_exit(t.set, 0), 1);
    ck_assert_int_eq(mo_pattern_set_entry(t.set, 1), 1);
    ck_assert_int_eq(mo_pattern_set_exit(t.set, 1), MO_FREE);
    close_case(&t);
}
END_TEST

START_TEST(live_memory_and_a_missing_search_are_refused)
{
    mo_regime live = { .memory = MO_MEMORY_LIVE }, fixed = { 0 };
    const mo_regime *regime = _i == 0 ? &live : &fixed;
    mo_error why = { 0 };
    mo_frame *frame = NULL;
    void *state = NULL;
    problem p = { 0 };

    problem_make(&p, graph, cluster, NULL);
    MUST(mo_frame_make(p.x, regime, false, &frame, &err));
    ck_assert_int_eq(mo_formulation_patterns.prepare(frame, &state, &why),
                     MO_E_USAGE);
    ck_assert_ptr_nonnull(
        strstr(why.text, _i == 0 ? "--memory static or none" : "a search"));
    mo_frame_free(frame);
    problem_clear(&p);
}
END_TEST

START_TEST(without_a_schedule_or_bounds_there_is_no_model)
{
    mo_error why = { 0 };
    void *state = NULL;
    patterns_case t;

    open_case(&t, &mo_formulation_patterns);
    t.set->has_known = false;
    ck_assert_int_eq(mo_formulation_patterns.prepare(t.c.frame, &state, &why),
                     MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(why.text, "there are no patterns"));
    free(t.set->segments[0].lower_ns);
    t.set->segments[0].lower_ns = NULL;
    ck_assert_int_eq(
        mo_formulation_patterns_lower.prepare(t.c.frame, &state, &why),
        MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(why.text, "16 devices"));
    close_case(&t);
}
END_TEST

SUITE(patterns)
{
    TEST(without_a_schedule_or_bounds_there_is_no_model);
    TEST(rows_choose_one_pattern_for_each_segment);
    TEST(lower_bounds_have_a_column_for_each_pair_of_devices);
    TEST(equal_patterns_are_one);
    EACH(live_memory_and_a_missing_search_are_refused, 2);
}
