/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/digest.h; the values are those of the xxhsum program. */
#include "base/digest.h"

#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *text;
    uint64_t value;
} known[] = {
    { "", 0x2d06800538d394c2 },
    { "a", 0xe6c632b61e964e1f },
    { "abc", 0x78af5f94892f3950 },
    { "The quick brown fox jumps over the lazy dog", 0xce7d19a5418fb365 },
};

START_TEST(digests_are_those_of_xxh3)
{
    const char *text = known[_i].text;
    mo_digest *digest = mo_digest_new();

    ck_assert_uint_eq(mo_digest_of(text, strlen(text)), known[_i].value);
    mo_digest_bytes(digest, text, strlen(text));
    ck_assert_uint_eq(mo_digest_value(digest), known[_i].value);
    mo_digest_free(digest);
}
END_TEST

START_TEST(bytes_may_come_in_pieces)
{
    static const char zeros[1000];
    mo_digest *digest = mo_digest_new();

    for (size_t at = 0, n = 0; at < sizeof zeros; at += n, n++) {
        if (n > sizeof zeros - at)
            n = sizeof zeros - at;
        mo_digest_bytes(digest, zeros + at, n);
    }
    ck_assert_uint_eq(mo_digest_value(digest), 0x24c1ea6074dd588c);
    mo_digest_free(digest);
}
END_TEST

static uint64_t digest_of_int(int64_t value)
{
    mo_digest *digest = mo_digest_new();
    uint64_t result;

    mo_digest_int(digest, value);
    result = mo_digest_value(digest);
    mo_digest_free(digest);
    return result;
}

START_TEST(many_ints_are_one_after_the_other)
{
    static const int64_t values[] = { 0, -1, INT64_MIN, INT64_MAX, 256, 7 };
    mo_digest *at_once = mo_digest_new(), *singly = mo_digest_new();

    mo_digest_ints(at_once, values, COUNT(values));
    mo_digest_ints(at_once, values, 0);
    for (int i = 0; i < COUNT(values); i++)
        mo_digest_int(singly, values[i]);
    ck_assert_uint_eq(mo_digest_value(at_once), mo_digest_value(singly));
    mo_digest_free(at_once);
    mo_digest_free(singly);
}
END_TEST

static uint64_t digest_of_double(double value)
{
    mo_digest *digest = mo_digest_new();
    uint64_t result;

    mo_digest_double(digest, value);
    result = mo_digest_value(digest);
    mo_digest_free(digest);
    return result;
}

START_TEST(numbers_go_in_lowest_byte_first)
{
    ck_assert_uint_eq(digest_of_int(-2), 0x77f9923217301859);
    ck_assert_uint_eq(digest_of_double(1.5), 0x2561a4889ff63458);
}
END_TEST

START_TEST(both_zeros_count_as_one)
{
    ck_assert_uint_eq(digest_of_double(0.0), 0xc77b3abb6f87acd9);
    ck_assert_uint_eq(digest_of_double(-0.0), 0xc77b3abb6f87acd9);
}
END_TEST

static uint64_t digest_of_texts(const char *first, const char *second)
{
    mo_digest *digest = mo_digest_new();
    uint64_t result;

    mo_digest_text(digest, first);
    mo_digest_text(digest, second);
    result = mo_digest_value(digest);
    mo_digest_free(digest);
    return result;
}

START_TEST(texts_do_not_run_into_each_other)
{
    ck_assert_uint_ne(digest_of_texts("ab", "c"), digest_of_texts("a", "bc"));
    ck_assert_uint_ne(digest_of_texts("", "a"), digest_of_texts("a", ""));
    ck_assert_uint_ne(digest_of_texts(NULL, "a"), digest_of_texts("", "a"));
    ck_assert_uint_eq(digest_of_texts("a", "b"), digest_of_texts("a", "b"));
}
END_TEST

START_TEST(a_text_is_its_length_and_its_bytes)
{
    static const char framed[] = "\3\0\0\0\0\0\0\0abc";
    mo_digest *digest = mo_digest_new();

    mo_digest_text(digest, "abc");
    ck_assert_uint_eq(mo_digest_value(digest),
                      mo_digest_of(framed, sizeof framed - 1));
    mo_digest_free(digest);
}
END_TEST

START_TEST(the_value_can_be_read_midway)
{
    mo_digest *digest = mo_digest_new();

    mo_digest_bytes(digest, "a", 1);
    ck_assert_uint_eq(mo_digest_value(digest), known[1].value);
    mo_digest_bytes(digest, "bc", 2);
    ck_assert_uint_eq(mo_digest_value(digest), known[2].value);
    mo_digest_free(digest);
}
END_TEST

SUITE(digest)
{
    EACH(digests_are_those_of_xxh3, COUNT(known));
    TEST(bytes_may_come_in_pieces);
    TEST(many_ints_are_one_after_the_other);
    TEST(numbers_go_in_lowest_byte_first);
    TEST(both_zeros_count_as_one);
    TEST(texts_do_not_run_into_each_other);
    TEST(a_text_is_its_length_and_its_bytes);
    TEST(the_value_can_be_read_midway);
}
