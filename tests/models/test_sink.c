/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/sink/sink.h. */
#include <math.h>
#include <string.h>

#include "models/sink/sink.h"
#include "models/sink/variable.h"
#include "tests/support/suite.h"

/* A sink that keeps the last row. */
typedef struct keeper {
    mo_sink sink;
    int rows, n;
    int64_t number;
    int columns[400];
    double coefs[400];
    mo_sense sense;
    double rhs;
    int *freed;
} keeper;

static void keep(mo_sink *sink, const mo_sink_row_terms *row)
{
    keeper *k = (keeper *) sink;

    k->rows++;
    k->n = row->n;
    k->number = row->number;
    memcpy(k->columns, row->columns, (size_t) row->n * sizeof *k->columns);
    memcpy(k->coefs, row->coefs, (size_t) row->n * sizeof *k->coefs);
    k->sense = row->sense;
    k->rhs = row->rhs;
}

static void release(mo_sink *sink)
{
    keeper *k = (keeper *) sink;

    if (k->freed)
        ++*k->freed;
}

static keeper *new_keeper(int n_columns)
{
    static const mo_sink_kind kind = {
        .passes = 1, .wants_rows = true, .row = keep, .free = release
    };
    keeper *k = mo_sink_new(&kind, sizeof *k, NULL);

    ck_assert_ptr_nonnull(k);
    mo_sink_begin(&k->sink, 0);
    for (int i = 0; i < n_columns; i++)
        ck_assert_int_eq(
            mo_sink_column(&k->sink,
                           &(mo_variable){ .role = MO_VARIABLE_ROLE_START,
                                           .number = { i } }),
            i);
    mo_sink_columns_end(&k->sink);
    mo_sink_family(&k->sink, "row");
    return k;
}

START_TEST(a_column_met_twice_is_one_term)
{
    keeper *k = new_keeper(10);

    mo_sink_term_add(&k->sink, 3, 1);
    mo_sink_term_add(&k->sink, 5, 2);
    mo_sink_term_add(&k->sink, 3, 0.5);
    mo_sink_row(&k->sink, MO_LE, 4);
    ck_assert_int_eq(k->n, 2);
    ck_assert(k->columns[0] == 3 && k->coefs[0] == 1.5);
    ck_assert(k->columns[1] == 5 && k->coefs[1] == 2);
    mo_sink_free(&k->sink);
}
END_TEST

/* Both merge algorithms, with table entries left by earlier rows. */
START_TEST(long_rows_merge_as_short_ones_do)
{
    keeper *k = new_keeper(300);

    for (int n = 1; n <= 300; n += 13) {
        for (int i = 0; i < n; i++)
            mo_sink_term(&k->sink, (i * 7 + n) % 300, 1);
        for (int i = n - 1; i >= 0; i--)
            mo_sink_term_add(&k->sink, (i * 7 + n) % 300, i);
        mo_sink_row(&k->sink, MO_EQ, 1);
        ck_assert_int_eq(k->n, n);
        for (int i = 0; i < n; i++)
            ck_assert(k->columns[i] == (i * 7 + n) % 300 &&
                      k->coefs[i] == 1 + i);
    }
    mo_sink_free(&k->sink);
}
END_TEST

START_TEST(zeros_are_dropped_merged_ones_too)
{
    keeper *k = new_keeper(10);

    mo_sink_term(&k->sink, 1, 0);
    mo_sink_term_add(&k->sink, 2, 1);
    mo_sink_term_add(&k->sink, 3, 1);
    mo_sink_term_add(&k->sink, 2, -1);
    mo_sink_row(&k->sink, MO_GE, -0.0);
    ck_assert(k->n == 1 && k->columns[0] == 3);
    ck_assert(!signbit(k->rhs));
    ck_assert_int_eq(k->sink.n_terms, 1);
    mo_sink_free(&k->sink);
}
END_TEST

static const struct {
    mo_sense sense;
    double rhs;
    bool holds;
} empty[] = {
    { MO_LE, 1, true },  { MO_LE, 0, true },  { MO_LE, -1, false },
    { MO_GE, -1, true }, { MO_GE, 0, true },  { MO_GE, 1, false },
    { MO_EQ, 0, true },  { MO_EQ, 1, false }, { MO_EQ, -1, false },
};

START_TEST(an_empty_row_is_none_or_cannot_hold)
{
    keeper *k = new_keeper(2);

    mo_sink_term(&k->sink, 1, 0);
    mo_sink_row(&k->sink, empty[_i].sense, empty[_i].rhs);
    ck_assert_int_eq(k->rows, empty[_i].holds ? 0 : 1);
    ck_assert_int_eq(k->sink.n_rows, k->rows);
    if (!empty[_i].holds) {
        ck_assert(k->n == 1 && k->columns[0] == 0 && k->coefs[0] == 1);
        ck_assert(k->sense == MO_LE && k->rhs == -1);
    }
    mo_sink_free(&k->sink);
}
END_TEST

START_TEST(rows_of_a_family_are_numbered_without_gaps)
{
    keeper *k = new_keeper(2);

    for (int i = 0; i < 4; i++) {
        mo_sink_term(&k->sink, 0, i % 2 ? 0 : 1);
        mo_sink_row(&k->sink, MO_GE, 0);
    }
    ck_assert_int_eq(k->number, 1);
    mo_sink_family(&k->sink, "other");
    mo_sink_term(&k->sink, 0, 1);
    mo_sink_row(&k->sink, MO_GE, 0);
    ck_assert_int_eq(k->number, 0);
    mo_sink_free(&k->sink);
}
END_TEST

static void tell(void *context)
{
    ++*(int *) context;
}

START_TEST(many_rows_are_told_once)
{
    keeper *k = new_keeper(1);
    int told = 0;

    k->sink.row_limit = 3;
    k->sink.on_row_limit = tell;
    k->sink.context = &told;
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(told, i >= 3);
        mo_sink_term(&k->sink, 0, 1);
        mo_sink_row(&k->sink, MO_GE, 0);
    }
    mo_sink_free(&k->sink);
}
END_TEST

START_TEST(after_a_failure_nothing_is_passed_on_and_the_end_tells)
{
    keeper *k = new_keeper(1);
    mo_error err = { 0 };

    mo_fail(&k->sink.failure, MO_E_LIMIT, "enough");
    mo_sink_term(&k->sink, 0, 1);
    mo_sink_row(&k->sink, MO_GE, 0);
    ck_assert_int_eq(k->rows, 0);
    ck_assert_int_eq(mo_sink_end(&k->sink, &err), MO_E_LIMIT);
    ck_assert_str_eq(err.text, "enough");
    mo_sink_free(&k->sink);
}
END_TEST

START_TEST(freeing_calls_the_kind)
{
    keeper *k = new_keeper(1);
    int freed = 0;

    k->freed = &freed;
    mo_sink_free(&k->sink);
    mo_sink_free(NULL);
    ck_assert_int_eq(freed, 1);
}
END_TEST

static const struct {
    mo_variable column;
    const char *name;
} names[] = {
    { { .role = MO_VARIABLE_ROLE_MAKESPAN }, "w" },
    { { .role = MO_VARIABLE_ROLE_START, .number = { 0 } }, "s_0" },
    { { .role = MO_VARIABLE_ROLE_PLACE, .number = { 12, 3 } }, "x_12_3" },
    { { .role = MO_VARIABLE_ROLE_CHANNEL, .number = { 1, 20, 300 } },
      "y_1_20_300" },
    { { .role = MO_VARIABLE_ROLE_SEND_ORDER,
        .number = { 2147483647, 2147483647 } },
      "h_2147483647_2147483647" },
    { { .role = MO_VARIABLE_ROLE_IDENTITY, .text = "moirai_g_1" },
      "moirai_g_1" },
};

START_TEST(a_name_is_a_letter_and_numbers)
{
    char name[MO_VARIABLE_NAME];

    ck_assert_int_eq(mo_variable_name(&names[_i].column, name),
                     strlen(names[_i].name));
    ck_assert_str_eq(name, names[_i].name);
}
END_TEST

SUITE(sink)
{
    TEST(a_column_met_twice_is_one_term);
    TEST(long_rows_merge_as_short_ones_do);
    TEST(zeros_are_dropped_merged_ones_too);
    EACH(an_empty_row_is_none_or_cannot_hold, COUNT(empty));
    TEST(rows_of_a_family_are_numbered_without_gaps);
    TEST(many_rows_are_told_once);
    TEST(after_a_failure_nothing_is_passed_on_and_the_end_tells);
    TEST(freeing_calls_the_kind);
    EACH(a_name_is_a_letter_and_numbers, COUNT(names));
}
