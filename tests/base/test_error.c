/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/error.h. */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(fail_fills_the_error_and_returns_its_status)
{
    mo_error err = { .line = 7, .file = "old" };

    ck_assert_int_eq(mo_fail(&err, MO_E_INPUT, "no %s in %d", "memory", 3),
                     MO_E_INPUT);
    ck_assert_int_eq(err.status, MO_E_INPUT);
    ck_assert_str_eq(err.text, "no memory in 3");
    ck_assert_str_eq(err.file, "");
    ck_assert_int_eq(err.line, 0);
}
END_TEST

START_TEST(an_error_may_be_null)
{
    ck_assert_int_eq(mo_fail(NULL, MO_E_LIMIT, "x"), MO_E_LIMIT);
    ck_assert_int_eq(mo_fail_at(NULL, MO_E_SYNTAX, "f", 1, "x"), MO_E_SYNTAX);
    ck_assert_int_eq(mo_fail_memory(NULL), MO_E_MEMORY);
    errno = ENOENT;
    ck_assert_int_eq(mo_fail_errno(NULL, "f", "x"), MO_E_IO);
    ck_assert_int_ne(mo_error_set_location(NULL, "f", 1), MO_OK);
}
END_TEST

static const struct {
    const char *file;
    int line;
    const char *wanted;
} formats[] = {
    { "a.graphml", 12, "a.graphml:12: broken" },
    { "a.graphml", 0, "a.graphml: broken" },
    { "", 12, "broken" },
    { NULL, 0, "broken" },
    { "evil\n\033[2J", 1, "evil\\n\\x1b[2J:1: broken" },
};

START_TEST(format_names_the_place_there_is)
{
    mo_error err;
    char text[64];

    mo_fail_at(&err, MO_E_INPUT, formats[_i].file, formats[_i].line, "broken");
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     formats[_i].wanted);
}
END_TEST

START_TEST(format_fits_into_a_small_buffer)
{
    mo_error err;
    char text[8];

    mo_fail(&err, MO_E_INPUT, "longer than that");
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text), "longer ");
}
END_TEST

START_TEST(a_text_stays_one_line)
{
    mo_error err;

    mo_fail(&err, MO_E_INPUT, "op '%s'", "a\nb\tc\r\x7f");
    ck_assert_str_eq(err.text, "op 'a\\nb\\tc\\x0d\\x7f'");
}
END_TEST

START_TEST(a_long_text_is_cut_at_a_whole_character)
{
    char name[4 * MO_ERROR_TEXT_SIZE];
    mo_error err;

    for (size_t i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 3);
    mo_fail_at(&err, MO_E_INPUT, name, 1, "%s", name);
    ck_assert_uint_lt(strlen(err.text), sizeof err.text);
    ck_assert_uint_gt(strlen(err.text), sizeof err.text - 8);
    ck_assert_str_eq(err.text + strlen(err.text) - 5, "\xc3\xa9...");
    ck_assert_str_eq(err.file + strlen(err.file) - 5, "\xc3\xa9...");
}
END_TEST

START_TEST(an_error_may_have_a_plain_text)
{
    mo_error err;

    mo_fail_at(&err, MO_E_INPUT, "a.xml", 3, "no shape");
    mo_fail_at(&err, err.status, err.file, err.line, "while folding: %s",
               err.text);
    ck_assert_str_eq(err.text, "while folding: no shape");
    ck_assert_str_eq(err.file, "a.xml");
    ck_assert_int_eq(err.line, 3);
}
END_TEST

START_TEST(a_failed_call_has_the_text_of_errno)
{
    mo_error err;
    char text[128];

    errno = ENOENT;
    ck_assert_int_eq(mo_fail_errno(&err, "a.xml", "cannot open"), MO_E_IO);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     "a.xml: cannot open: No such file or directory");
    errno = ENOMEM;
    ck_assert_int_eq(mo_fail_errno(&err, "a.xml", "cannot map"), MO_E_MEMORY);
}
END_TEST

START_TEST(a_place_is_added_only_where_none_is)
{
    mo_error err;

    mo_fail(&err, MO_E_INPUT, "x");
    ck_assert_int_eq(mo_error_set_location(&err, "first.xml", 3), MO_E_INPUT);
    ck_assert_int_eq(mo_error_set_location(&err, "second.xml", 9), MO_E_INPUT);
    ck_assert_str_eq(err.file, "first.xml");
    ck_assert_int_eq(err.line, 3);
}
END_TEST

SUITE(error)
{
    TEST(fail_fills_the_error_and_returns_its_status);
    TEST(an_error_may_be_null);
    EACH(format_names_the_place_there_is, COUNT(formats));
    TEST(format_fits_into_a_small_buffer);
    TEST(a_text_stays_one_line);
    TEST(a_long_text_is_cut_at_a_whole_character);
    TEST(an_error_may_have_a_plain_text);
    TEST(a_failed_call_has_the_text_of_errno);
    TEST(a_place_is_added_only_where_none_is);
}
