/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/utf8.h. */
#include "base/utf8.h"

#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *bytes;
    size_t taken;
    uint32_t code;
} characters[] = {
    { "A", 1, 'A' },
    { "\xc3\xa9", 2, 0xe9 },
    { "\xe2\x82\xac", 3, 0x20ac },
    { "\xf0\x9f\x98\x80", 4, 0x1f600 },
    { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
    { "\x80", 0, 0 }, /* a continuation alone    */
    { "\xc3", 0, 0 }, /* its continuation missing */
    { "\xc3"
      "A",
      0, 0 },
    { "\xe2\x82", 0, 0 },
    { "\xc0\xaf", 0, 0 }, /* overlong slash          */
    { "\xe0\x80\xaf", 0, 0 },
    { "\xf0\x80\x80\xaf", 0, 0 },
    { "\xed\xa0\x80", 0, 0 },     /* a surrogate             */
    { "\xf4\x90\x80\x80", 0, 0 }, /* beyond the last         */
    { "\xf8\x88\x80\x80\x80", 0, 0 },
    { "\xff", 0, 0 },
};

START_TEST(decode_takes_only_well_formed_characters)
{
    const char *bytes = characters[_i].bytes;
    uint32_t code = 0;

    ck_assert_uint_eq(mo_utf8_decode(bytes, strlen(bytes), &code),
                      characters[_i].taken);
    ck_assert_uint_eq(code, characters[_i].code);
    ck_assert_uint_eq(mo_utf8_decode(bytes, 4, &code), characters[_i].taken);
}
END_TEST

START_TEST(decode_reads_no_further_than_the_size)
{
    uint32_t code;

    for (size_t n = 0; n < 4; n++)
        ck_assert_uint_eq(mo_utf8_decode("\xf0\x9f\x98\x80", n, &code), 0);
}
END_TEST

START_TEST(encode_is_the_inverse_of_decode)
{
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char text[4];
        uint32_t back = 0;
        size_t n = mo_utf8_encode(text, code);

        if (code >= 0xd800 && code <= 0xdfff) {
            ck_assert_uint_eq(mo_utf8_decode(text, n, &back), 0);
        } else if (mo_utf8_decode(text, n, &back) != n || back != code) {
            ck_abort_msg("U+%04X", (unsigned) code);
        }
    }
}
END_TEST

static const struct {
    const char *text, *shown;
} visible[] = {
    { "plain text", "plain text" },
    { "", "" },
    { "a\nb\tc", "a\\nb\\tc" },
    { "\033[31m", "\\x1b[31m" },
    { "\x7f", "\\x7f" },
    { "caf\xc3\xa9", "caf\xc3\xa9" },
    { "\xc2\x9b"
      "2J",
      "\\xc2\\x9b2J" }, /* an escape in one character */
    { "\xff\xfe", "\\xff\\xfe" },
    { "\xe2\x80\xa8", "\\xe2\\x80\\xa8" }, /* U+2028 ends a line */
    { "\xe2\x80\xae", "\\xe2\\x80\\xae" }, /* U+202E turns it round */
    { "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
    { "\xe2\x81\xa9", "\\xe2\\x81\\xa9" },
    { "\xe2\x80\xa7\xe2\x81\xa5", "\xe2\x80\xa7\xe2\x81\xa5" },
};

START_TEST(visible_text_holds_no_controls)
{
    char shown[64];

    mo_utf8_escape_controls(shown, sizeof shown, visible[_i].text);
    ck_assert_str_eq(shown, visible[_i].shown);
}
END_TEST

/* The buffer is exactly as long as its size, for the sanitizer to check. */
START_TEST(visible_text_fits_any_size)
{
    static const char text[] = "\xe2\x82\xac\x1b\xe2\x82\xac plain";
    static const char whole[] = "\xe2\x82\xac\\x1b\xe2\x82\xac plain";
    size_t size = (size_t) _i;
    char *shown = malloc(size);

    ck_assert_ptr_nonnull(shown);
    mo_utf8_escape_controls(shown, size, text);
    ck_assert_uint_lt(strlen(shown), size);
    if (size >= sizeof whole)
        ck_assert_str_eq(shown, whole);
    else if (size >= 4)
        ck_assert_str_eq(shown + strlen(shown) - 3, "...");
    free(shown);
}
END_TEST

static const struct {
    const char *text;
    int columns;
} columns[] = {
    { "", 0 },
    { "A100", 4 },
    { "ger\xc3\xa4t", 5 },
    { "gera\xcc\x88t", 5 },               /* a, and two dots on it */
    { "\xe4\xba\x8c\xe5\x8f\xb7...", 7 }, /* two wide ones */
    { "\xf0\x9f\x9a\x80", 2 },
    { "\xff", 1 },
};

START_TEST(columns_are_those_of_a_terminal)
{
    ck_assert_int_eq(mo_utf8_columns(columns[_i].text), columns[_i].columns);
}
END_TEST

SUITE(utf8)
{
    EACH(decode_takes_only_well_formed_characters, COUNT(characters));
    TEST(decode_reads_no_further_than_the_size);
    TEST(encode_is_the_inverse_of_decode);
    EACH(visible_text_holds_no_controls, COUNT(visible));
    tcase_add_loop_test(tests, visible_text_fits_any_size, 1, 24);
    EACH(columns_are_those_of_a_terminal, COUNT(columns));
}
