/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/method_table.h. */
#include "base/utf8.h"
#include "report/method_table.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

static problem p;
static mo_report_method_row rows[] = {
    { .method = "moirai",
      .fits = true,
      .makespan_ns = 63700,
      .fullest = 1,
      .peak_bytes = 512,
      .lower_ns = 60000,
      .rounds = 3,
      .seconds = 0.25 },
    { .method = "m-topo",
      .fits = false,
      .makespan_ns = 50000,
      .fullest = 0,
      .peak_bytes = 3072 },
    { .method = "pesto", .why = "no solver was found", .fullest = MO_FREE },
};
static mo_report_methods all;

static void begin(void)
{
    problem_make(&p, "* t.A=1 t.B=2; a; b; a>b bytes=8",
                 "A memory_bytes=2048; B memory_bytes=1024; A-B gbps=8", NULL);
    all = (mo_report_methods){ .x = p.x,
                               .n = 3,
                               .rows = rows,
                               .bound_ns = 60000,
                               .bound_by = "moirai",
                               .single = 0,
                               .single_ns = 81700 };
}

static char *written(void (*write)(const mo_report_methods *placements,
                                   mo_out *out))
{
    mo_out *out = text_new();

    write(&all, out);
    return text_end(out);
}

static void check_contains(void (*write)(const mo_report_methods *placements,
                                         mo_out *out),
                           const char *words, bool does)
{
    char *text = written(write);

    ck_assert_msg((strstr(text, words) != NULL) == does, "%s is%s in:\n%s",
                  words, does ? " not" : "", text);
    free(text);
}

START_TEST(a_table_has_a_row_for_each_method)
{
    char *text;

    begin();
    text = written(mo_report_methods_text);
    ck_assert_str_eq(
        text,
        "method     makespan/us vs single     bound/us    gap/%  memory peak "
        "  seconds\n"
        "moirai          63.700   1.283 x       60.000     5.81  50.0 % of B "
        "     0.25\n"
        "m-topo          50.000   1.634 x       60.000        -  150.0 % of A"
        "     0.00  does not fit\n"
        "pesto                -  no solver was found\n"
        "\n"
        "best single device: A alone takes 81.700 us\n"
        "bound: no placement takes less than 60.000 us (moirai)\n");
    free(text);
    problem_clear(&p);
}
END_TEST

START_TEST(the_text_reports_what_was_proven)
{
    begin();
    check_contains(mo_report_methods_text,
                   "bound: no placement takes less than 60.000 "
                   "us (moirai)\n",
                   true);
    check_contains(mo_report_methods_text,
                   "best single device: A alone takes 81.700 "
                   "us\n",
                   true);
    all.bound_ns = 63700;
    check_contains(mo_report_methods_text,
                   "proven optimal: no placement takes less "
                   "than 63.700 us (moirai)\n",
                   true);
    check_contains(mo_report_methods_json, "\"optimal\": true", true);
    all.single_ns = 63700;
    check_contains(mo_report_methods_text,
                   "one device is best: A alone takes 63.700 "
                   "us\n",
                   true);
    all.single = MO_FREE;
    check_contains(mo_report_methods_text,
                   "no device can take everything alone\n", true);
    check_contains(mo_report_methods_json, "best_single", false);
    problem_clear(&p);
}
END_TEST

START_TEST(what_does_not_fit_is_neither_best_nor_optimal)
{
    begin();
    ck_assert_ptr_eq(mo_report_methods_best(&all), &rows[0]);
    all.rows = rows + 1;
    all.n = 2;
    all.bound_ns = 50000;
    ck_assert_ptr_null(mo_report_methods_best(&all));
    check_contains(mo_report_methods_text, "proven", false);
    check_contains(mo_report_methods_json, "\"optimal\": true", false);
    all.bound_ns = 50001;
    check_contains(mo_report_methods_json, "\"gap\"", false);
    all.rows = rows + 2;
    all.n = 1;
    ck_assert_ptr_null(mo_report_methods_best(&all));
    problem_clear(&p);
}
END_TEST

START_TEST(a_gap_is_of_the_makespan)
{
    begin();
    ck_assert_double_eq_tol(mo_report_methods_gap(&all, &rows[0]),
                            3700.0 / 63700, 1e-12);
    all.bound_ns = 63700;
    ck_assert_double_eq(mo_report_methods_gap(&all, &rows[0]), 0);
    problem_clear(&p);
}
END_TEST

START_TEST(a_gap_is_none_only_if_that_is_proven)
{
    begin();
    rows[0].makespan_ns = 63700001;
    all.bound_ns = 63700000;
    check_contains(mo_report_methods_text, "    <0.01  50.0 % of B", true);
    check_contains(mo_report_methods_text, "\nproven optimal", false);
    all.bound_ns = 63700001;
    check_contains(mo_report_methods_text, "     0.00  50.0 % of B", true);
    check_contains(mo_report_methods_text, "\nproven optimal", true);
    rows[0].makespan_ns = 63700;
    problem_clear(&p);
}
END_TEST

START_TEST(a_device_without_memory_has_no_parts_of_it)
{
    begin();
    p.x->capacity_bytes[0] = 0;
    check_contains(mo_report_methods_text,
                   "  3.00 KiB, none in A     0.00  does not", true);
    problem_clear(&p);
}
END_TEST

/* The first three lines are as wide as their characters. */
START_TEST(names_of_any_script_stand_in_columns)
{
    char *text, *line;
    int columns[3];

    begin();
    problem_clear(&p);
    problem_make(&p, "* t.A=1 t.\xe4\xba\x8c=2; a; b; a>b bytes=8",
                 "A memory_bytes=2048; \xe4\xba\x8c memory_bytes=1024; "
                 "A-\xe4\xba\x8c gbps=8",
                 NULL);
    all.x = p.x;
    rows[1].fits = true;
    text = written(mo_report_methods_text);
    rows[1].fits = false;
    line = strtok(text, "\n");
    for (int i = 0; i < COUNT(columns); i++, line = strtok(NULL, "\n"))
        columns[i] = mo_utf8_columns(line);
    ck_assert_int_eq(columns[1], columns[0]);
    ck_assert_int_eq(columns[2], columns[0]);
    free(text);
    problem_clear(&p);
}
END_TEST

START_TEST(losses_are_reported_by_device)
{
    const mo_report_device_loss losses[] = { { NULL, 127400 },
                                             { "op 'a' is pinned to it", 0 } };

    begin();
    all.losses = losses;
    check_contains(mo_report_methods_text,
                   "without                   makespan/us    loss/%\n"
                   "A                             127.400    100.00\n"
                   "B                                   -  op 'a' is pinned to "
                   "it\n",
                   true);
    check_contains(mo_report_methods_json,
                   "{\"device\": \"A\", \"makespan_us\": 127.4, \"loss\": 1}",
                   true);
    check_contains(mo_report_methods_json,
                   "{\"device\": \"B\", \"why\": \"op 'a' is pinned to it\"}",
                   true);
    problem_clear(&p);
}
END_TEST

SUITE(method_table)
{
    TEST(a_table_has_a_row_for_each_method);
    TEST(the_text_reports_what_was_proven);
    TEST(what_does_not_fit_is_neither_best_nor_optimal);
    TEST(a_gap_is_of_the_makespan);
    TEST(a_gap_is_none_only_if_that_is_proven);
    TEST(a_device_without_memory_has_no_parts_of_it);
    TEST(names_of_any_script_stand_in_columns);
    TEST(losses_are_reported_by_device);
}
