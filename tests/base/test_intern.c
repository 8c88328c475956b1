/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/intern.h. */
#include "base/intern.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static mo_arena *arena;
static mo_intern *table;

static void set_up(void)
{
    arena = mo_arena_new();
    table = mo_intern_new(arena);
    ck_assert_ptr_nonnull(table);
}

static void tear_down(void)
{
    mo_intern_free(table);
    mo_arena_free(arena);
}

static int put(const char *text, size_t length)
{
    int number = -2;

    MUST(mo_intern_put(table, text, length, &number, &err));
    return number;
}

START_TEST(free_accepts_null)
{
    mo_intern_free(NULL);
}
END_TEST

START_TEST(numbers_count_in_order_of_first_sight)
{
    ck_assert_int_eq(put("b", 1), 0);
    ck_assert_int_eq(put("a", 1), 1);
    ck_assert_int_eq(put("b", 1), 0);
    ck_assert_int_eq(put("c", 1), 2);
    ck_assert_int_eq(mo_intern_count(table), 3);
    ck_assert_str_eq(mo_intern_text(table, 1), "a");
}
END_TEST

START_TEST(only_the_given_length_counts)
{
    ck_assert_int_eq(put("conv1", 4), 0);
    ck_assert_int_eq(put("conv", 4), 0);
    ck_assert_int_eq(put("", 0), 1);
    ck_assert_str_eq(mo_intern_text(table, 0), "conv");
    ck_assert_str_eq(mo_intern_text(table, 1), "");
}
END_TEST

START_TEST(a_zero_byte_is_a_byte_like_any_other)
{
    ck_assert_int_eq(put("a\0b", 3), 0);
    ck_assert_int_eq(put("a", 1), 1);
    ck_assert_int_eq(put("a\0c", 3), 2);
    ck_assert_int_eq(put("a\0b", 3), 0);
}
END_TEST

START_TEST(find_adds_nothing)
{
    ck_assert_int_eq(mo_intern_find(table, "a", 1), -1);
    put("a", 1);
    ck_assert_int_eq(mo_intern_find(table, "a", 1), 0);
    ck_assert_int_eq(mo_intern_find(table, "b", 1), -1);
    ck_assert_int_eq(mo_intern_count(table), 1);
}
END_TEST

START_TEST(what_is_appended_is_numbered_and_not_found)
{
    int number = -1;

    put("a", 1);
    MUST(mo_intern_append(table, "b", 1, &number, &err));
    ck_assert_int_eq(number, 1);
    ck_assert_str_eq(mo_intern_text(table, 1), "b");
    ck_assert_int_eq(mo_intern_find(table, "b", 1), -1);
    ck_assert_int_eq(put("c", 1), 2);
}
END_TEST

START_TEST(texts_outlive_the_table)
{
    const char *text;

    put("kept", 4);
    text = mo_intern_text(table, 0);
    mo_intern_free(table);
    table = NULL;
    ck_assert_str_eq(text, "kept");
}
END_TEST

/* Names as graphs have them, each seen again after the table has grown. */
START_TEST(many_names_keep_their_numbers)
{
    enum { NAMES = 100000 };
    const char **first = calloc(NAMES, sizeof *first);
    char name[32];

    for (int i = 0; i < 2 * NAMES; i++) {
        int wanted = i % NAMES, number = -1;
        int n = snprintf(name, sizeof name, "layer%d/head%d/q", wanted / 12,
                         wanted % 12);

        if (mo_intern_put(table, name, (size_t) n, &number, NULL) != MO_OK ||
            number != wanted)
            ck_abort_msg("%s is %d instead of %d", name, number, wanted);
        if (i < NAMES)
            first[wanted] = mo_intern_text(table, wanted);
        if (strcmp(mo_intern_text(table, wanted), name) != 0 ||
            mo_intern_text(table, wanted) != first[wanted])
            ck_abort_msg("%s moved or changed", name);
    }
    ck_assert_int_eq(mo_intern_count(table), NAMES);
    free(first);
}
END_TEST

SUITE(intern)
{
    tcase_add_checked_fixture(tests, set_up, tear_down);
    TEST(free_accepts_null);
    TEST(numbers_count_in_order_of_first_sight);
    TEST(only_the_given_length_counts);
    TEST(a_zero_byte_is_a_byte_like_any_other);
    TEST(find_adds_nothing);
    TEST(what_is_appended_is_numbered_and_not_found);
    TEST(texts_outlive_the_table);
    TEST(many_names_keep_their_numbers);
}
