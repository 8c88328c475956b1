/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/out.h: what is written. */
#include <config.h>

#include "base/out.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

/* Returns the output of write; the caller frees it. */
static char *collected(void (*write)(mo_out *, const char *), const char *text)
{
    mo_out *out = NULL;
    char *bytes;
    size_t size;

    MUST(mo_out_memory(&out, &err));
    write(out, text);
    bytes = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(size, strlen(bytes));
    MUST(mo_out_commit(out, &err));
    return bytes;
}

static const struct {
    const char *text, *xml, *json;
} escapes[] = {
    { "", "", "\"\"" },
    { "plain", "plain", "\"plain\"" },
    { "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'", "\"a<b>&\\\"c'\"" },
    { "\t\n\r", "&#9;&#10;&#13;", "\"\\t\\n\\r\"" },
    { "a\\b/", "a\\b/", "\"a\\\\b/\"" },
    { "\1\b\f\x1f", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
      "\"\\u0001\\b\\f\\u001f\"" },
    { "\x7f", "\x7f", "\"\x7f\"" },
    { "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80",
      "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"" },
    { "\xff.", "\xef\xbf\xbd.", "\"\xef\xbf\xbd.\"" },
    { "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
    { "\xef\xbf\xbf", "\xef\xbf\xbd", "\"\xef\xbf\xbd\"" }, /* U+FFFF */
    { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
};

START_TEST(texts_are_escaped_for_xml)
{
    char *got = collected(mo_out_xml, escapes[_i].text);

    ck_assert_str_eq(got, escapes[_i].xml);
    free(got);
}
END_TEST

START_TEST(texts_are_escaped_for_json)
{
    char *got = collected(mo_out_json, escapes[_i].text);

    ck_assert_str_eq(got, escapes[_i].json);
    free(got);
}
END_TEST

/* The fast path reads eight bytes at once: each special byte is found at each
 * place in texts of each length, and no other byte is taken for one. */
START_TEST(every_byte_is_seen_wherever_it_stands)
{
    char byte = (char) (_i + 1), alone[2] = { byte, '\0' };
    char *xml_alone = collected(mo_out_xml, alone);
    char *json_alone = collected(mo_out_json, alone);

    for (size_t n = 1; n <= 17; n++)
        for (size_t at = 0; at < n; at++) {
            char text[18] = "", xml[64], json[64], *got;

            memset(text, 'x', n);
            text[at] = byte;
            snprintf(xml, sizeof xml, "%.*s%s%s", (int) at, text, xml_alone,
                     text + at + 1);
            snprintf(json, sizeof json, "\"%.*s%.*s%s\"", (int) at, text,
                     (int) strlen(json_alone) - 2, json_alone + 1,
                     text + at + 1);
            got = collected(mo_out_xml, text);
            ck_assert_str_eq(got, xml);
            free(got);
            got = collected(mo_out_json, text);
            ck_assert_str_eq(got, json);
            free(got);
        }
    free(xml_alone);
    free(json_alone);
}
END_TEST

/* Longer than the buffer, which has to grow in the middle of it. */
START_TEST(long_texts_are_escaped_throughout)
{
    enum { SIZE = 9999 };
    char *text = calloc(1, SIZE + 1), *got, *at;

    for (int i = 0; i < SIZE; i++)
        text[i] = i % 7 == 0 ? '&' : (char) ('a' + i % 26);
    at = got = collected(mo_out_xml, text);
    for (int i = 0; i < SIZE; i++) {
        size_t n = text[i] == '&' ? 5 : 1;

        if (memcmp(at, n == 5 ? "&amp;" : &text[i], n) != 0)
            ck_abort_msg("byte %d", i);
        at += n;
    }
    ck_assert_int_eq(*at, '\0');
    free(got);
    free(text);
}
END_TEST

static void write_pieces(mo_out *out, const char *text)
{
    mo_out_text(out, text);
    mo_out_char(out, ' ');
    mo_out_int(out, -12);
    mo_out_char(out, ' ');
    mo_out_double(out, 0.5);
    mo_out_bytes(out, " xyz", 2);
    mo_out_bytes(out, "", 0);
    mo_out_printf(out, " %s=%d", "n", 3);
}

START_TEST(pieces_come_out_in_order)
{
    char *got = collected(write_pieces, "text");

    ck_assert_str_eq(got, "text -12 0.5 x n=3");
    free(got);
}
END_TEST

START_TEST(printf_may_be_long)
{
    char *wide = malloc(5001), *got;
    mo_out *out = NULL;
    size_t size;

    memset(wide, 'w', 5000);
    wide[5000] = '\0';
    MUST(mo_out_memory(&out, &err));
    mo_out_printf(out, "<%s>", wide);
    got = mo_out_take(out, &size);
    ck_assert_uint_eq(size, 5002);
    ck_assert(got[0] == '<' && got[5001] == '>');
    ck_assert(memcmp(got + 1, wide, 5000) == 0);
    mo_out_abandon(out);
    free(got);
    free(wide);
}
END_TEST

START_TEST(what_is_lent_makes_room_for_the_next)
{
    mo_out *out;
    size_t size = 0;

    MUST(mo_out_memory(&out, &err));
    ck_assert_str_eq(mo_out_borrow(out, &size), "");
    for (int n = 1; n < 5000; n = 3 * n + 1) {
        const char *text;

        for (int i = 0; i < n; i++)
            mo_out_char(out, 'x');
        text = mo_out_borrow(out, &size);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_eq(size, (size_t) n);
        ck_assert_uint_eq(strspn(text, "x"), (size_t) n);
        ck_assert_int_eq(text[n], '\0');
    }
    mo_out_abandon(out);
}
END_TEST

START_TEST(what_was_taken_is_gone)
{
    mo_out *out = NULL;
    size_t size;
    char *first, *second, *third;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "one");
    first = mo_out_take(out, &size);
    mo_out_text(out, "");
    mo_out_text(out, "two");
    second = mo_out_take(out, &size);
    third = mo_out_take(out, &size);
    ck_assert_str_eq(first, "one");
    ck_assert_str_eq(second, "two");
    ck_assert_str_eq(third, "");
    ck_assert_uint_eq(size, 0);
    MUST(mo_out_commit(out, &err));
    free(first);
    free(second);
    free(third);
}
END_TEST

SUITE(out)
{
    EACH(texts_are_escaped_for_xml, COUNT(escapes));
    EACH(texts_are_escaped_for_json, COUNT(escapes));
    EACH(every_byte_is_seen_wherever_it_stands, 255);
    TEST(long_texts_are_escaped_throughout);
    TEST(pieces_come_out_in_order);
    TEST(printf_may_be_long);
    TEST(what_is_lent_makes_room_for_the_next);
    TEST(what_was_taken_is_gone);
}
