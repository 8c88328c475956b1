/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/number.h. */
#include <config.h>

#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* xorshift; seeded by the number of the test, which a failure prints. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t seed(int i)
{
    return 0x9e3779b97f4a7c15u * ((uint64_t) i + 1);
}

static double random_finite(uint64_t *state)
{
    double value;

    do {
        uint64_t bits = next_random(state);

        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static const char *written(double value)
{
    static char text[MO_NUMBER_SIZE];
    size_t n = mo_number_write_double(text, value);

    if (n >= sizeof text)
        ck_abort_msg("%a takes %zu bytes", value, n);
    text[n] = '\0';
    return text;
}

static double read_back(const char *text)
{
    double value = NAN;

    if (mo_number_read_double(text, strlen(text), &value) != MO_NUMBER_OK)
        ck_abort_msg("%s is not read", text);
    return value;
}

static const struct {
    int64_t value;
    const char *text;
} ints[] = {
    { 0, "0" },
    { 7, "7" },
    { 10, "10" },
    { 99, "99" },
    { 100, "100" },
    { -1, "-1" },
    { 1234567, "1234567" },
    { INT64_MAX, "9223372036854775807" },
    { INT64_MIN, "-9223372036854775808" },
};

START_TEST(ints_are_written_and_read)
{
    char text[MO_NUMBER_SIZE];
    size_t n = mo_number_write_int(text, ints[_i].value);
    int64_t back = 0;

    text[n] = '\0';
    ck_assert_str_eq(text, ints[_i].text);
    ck_assert_int_eq(mo_number_read_int(text, n, &back), MO_NUMBER_OK);
    ck_assert_int_eq(back, ints[_i].value);
}
END_TEST

/* All lengths, each with and without a sign. */
START_TEST(any_int_is_written_as_printf_does)
{
    uint64_t state = seed(_i);

    for (int i = 0; i < 1000; i++) {
        int64_t value = (int64_t) next_random(&state) >> i % 64;
        char text[MO_NUMBER_SIZE], wanted[32];
        size_t n = mo_number_write_int(text, value);

        text[n] = '\0';
        snprintf(wanted, sizeof wanted, "%lld", (long long) value);
        if (strcmp(text, wanted) != 0)
            ck_abort_msg("%s instead of %s", text, wanted);
    }
}
END_TEST

/* The form is that of ECMAScript and RFC 8785, but for -0. */
static const struct {
    double value;
    const char *text;
} doubles[] = {
    { 0.0, "0" },
    { -0.0, "0" },
    { 1.0, "1" },
    { -42.0, "-42" },
    { 0.1, "0.1" },
    { -0.1, "-0.1" },
    { 0.5, "0.5" },
    { 3.25, "3.25" },
    { 1.0 / 3, "0.3333333333333333" },
    { 2.0 / 3, "0.6666666666666666" },
    { 0.1 + 0.2, "0.30000000000000004" },
    { 100.125, "100.125" },
    { 1e15, "1000000000000000" },
    { 9007199254740991.0, "9007199254740991" },
    { 9007199254740992.0, "9007199254740992" },
    { 1e16, "10000000000000000" },
    { 123456789012345680.0, "123456789012345680" },
    { 1e20, "100000000000000000000" },
    { 1e21, "1e+21" },
    { 1.5e21, "1.5e+21" },
    { 1e22, "1e+22" },
    { 1e23, "1e+23" },
    { 1e300, "1e+300" },
    { -1.25e-300, "-1.25e-300" },
    { 1e-6, "0.000001" },
    { 1.5e-6, "0.0000015" },
    { 1e-7, "1e-7" },
    { 1.5e-7, "1.5e-7" },
    { 123456.789e-12, "1.23456789e-7" },
    { DBL_MAX, "1.7976931348623157e+308" },
    { -DBL_MAX, "-1.7976931348623157e+308" },
    { DBL_MIN, "2.2250738585072014e-308" },
    { 5e-324, "5e-324" },
    { 1.5e-323, "1.5e-323" },
    { 5.684341886080802e-14, "5.684341886080802e-14" }, /* 2^-44 */
    { 9.007199254740993e15, "9007199254740992" },
    { 4.35, "4.35" },
    { 2.5e-5, "0.000025" },
};

START_TEST(doubles_have_one_form)
{
    ck_assert_str_eq(written(doubles[_i].value), doubles[_i].text);
}
END_TEST

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_round_trip(double value)
{
    const char *text = written(value);
    double back = read_back(text);

    if (!same_bits(back, value) || !same_bits(strtod(text, NULL), value))
        ck_abort_msg("%a came back from %s as %a", value, text, back);
}

START_TEST(any_double_reads_back_to_the_same_bits)
{
    uint64_t state = seed(_i);

    for (int i = 0; i < 1000; i++)
        check_round_trip(random_finite(&state));
}
END_TEST

/* Sizes and times as files have them. */
START_TEST(short_decimals_are_written_as_they_were)
{
    uint64_t state = seed(_i);

    for (int i = 0; i < 1000; i++) {
        char text[64];

        snprintf(text, sizeof text, "%d.%0*d",
                 (int) (next_random(&state) % 1000000), 1 + i % 9,
                 (int) (next_random(&state) % 9) + 1);
        if (strcmp(written(read_back(text)), text) != 0)
            ck_abort_msg("%s became %s", text, written(read_back(text)));
    }
}
END_TEST

static int significant_digits(const char *text)
{
    char digits[64];
    int n = 0;

    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0'))
            digits[n++] = *text;
    while (n > 0 && digits[n - 1] == '0')
        n--;
    return n;
}

/* printf finds the closest decimal of each length; if one shorter than the one
 * written reads back, the latter is too long. */
static void check_shortest(double value)
{
    const char *text = written(value);
    int n = significant_digits(text);

    for (int digits = 1; digits < n; digits++) {
        char shorter[64];

        snprintf(shorter, sizeof shorter, "%.*e", digits - 1, value);
        if (strtod(shorter, NULL) == value)
            ck_abort_msg("%s is longer than %s", text, shorter);
    }
}

START_TEST(no_shorter_decimal_would_do)
{
    uint64_t state = seed(_i);

    for (int i = 0; i < 100; i++) {
        double value = random_finite(&state);

        check_shortest(value);
        check_shortest(fmod(value, 1e6) / 3);
    }
}
END_TEST

static void check_with_neighbours(double value)
{
    check_shortest(value);
    check_round_trip(value);
    check_round_trip(nextafter(value, INFINITY));
    check_round_trip(0.0 - nextafter(value, 0));
}

START_TEST(powers_of_two_and_ten_and_their_neighbours_read_back)
{
    for (int e = -1074; e < 1024; e++)
        check_with_neighbours(ldexp(1, e));
    for (int e = -323; e <= 308; e++)
        check_with_neighbours(pow(10, e));
}
END_TEST

static const struct {
    const char *text;
    mo_number_fault fault;
    int64_t value;
} int_texts[] = {
    { "12", MO_NUMBER_OK, 12 },
    { " \t\r\n12 ", MO_NUMBER_OK, 12 },
    { "+12", MO_NUMBER_OK, 12 },
    { "-0", MO_NUMBER_OK, 0 },
    { "000000000000000000000000000000012", MO_NUMBER_OK, 12 },
    { "9223372036854775807", MO_NUMBER_OK, INT64_MAX },
    { "9223372036854775808", MO_NUMBER_RANGE, 0 },
    { "-9223372036854775808", MO_NUMBER_OK, INT64_MIN },
    { "-9223372036854775809", MO_NUMBER_RANGE, 0 },
    { "18446744073709551617", MO_NUMBER_RANGE, 0 },
    { "99999999999999999999999999", MO_NUMBER_RANGE, 0 },
    { "99999999999999999999999999x", MO_NUMBER_INVALID, 0 },
    { "", MO_NUMBER_INVALID, 0 },
    { " ", MO_NUMBER_INVALID, 0 },
    { "-", MO_NUMBER_INVALID, 0 },
    { "+-1", MO_NUMBER_INVALID, 0 },
    { "- 1", MO_NUMBER_INVALID, 0 },
    { "1 2", MO_NUMBER_INVALID, 0 },
    { "12.0", MO_NUMBER_INVALID, 0 },
    { "1e3", MO_NUMBER_INVALID, 0 },
    { "0x10", MO_NUMBER_INVALID, 0 },
    { "12a", MO_NUMBER_INVALID, 0 },
    { "\xd9\xa1", MO_NUMBER_INVALID, 0 }, /* an Arabic digit */
};

START_TEST(int_texts_are_read_or_refused)
{
    const char *text = int_texts[_i].text;
    int64_t value = 77;

    ck_assert_int_eq(mo_number_read_int(text, strlen(text), &value),
                     int_texts[_i].fault);
    ck_assert_int_eq(value, int_texts[_i].fault ? 77 : int_texts[_i].value);
}
END_TEST

static const struct {
    const char *text;
    mo_number_fault fault;
    double value;
} double_texts[] = {
    { "0", MO_NUMBER_OK, 0 },
    { "12", MO_NUMBER_OK, 12 },
    { " +1.5e3\n", MO_NUMBER_OK, 1500 },
    { ".5", MO_NUMBER_OK, 0.5 },
    { "5.", MO_NUMBER_OK, 5 },
    { "1E-2", MO_NUMBER_OK, 0.01 },
    { "0.1", MO_NUMBER_OK, 0.1 },
    { "-1e22", MO_NUMBER_OK, -1e22 },
    { "1e23", MO_NUMBER_OK, 1e23 },
    { "9007199254740993", MO_NUMBER_OK, 9007199254740992.0 },
    { "9007199254740993.0000000000000000000000001", MO_NUMBER_OK,
      9007199254740994.0 },
    { "18446744073709551616", MO_NUMBER_OK, 18446744073709551616.0 },
    { "0e999999999999999999999", MO_NUMBER_OK, 0 },
    { "1e-999999999999999999999", MO_NUMBER_OK, 0 },
    { "1e-400", MO_NUMBER_OK, 0 },
    { "4.9e-324", MO_NUMBER_OK, 5e-324 },
    { "1.7976931348623157e308", MO_NUMBER_OK, DBL_MAX },
    { "1.7976931348623159e308", MO_NUMBER_RANGE, 0 },
    { "1e400", MO_NUMBER_RANGE, 0 },
    { "-1e400", MO_NUMBER_RANGE, 0 },
    { "1e999999999999999999999", MO_NUMBER_RANGE, 0 },
    { "inf", MO_NUMBER_RANGE, 0 },
    { "-Infinity", MO_NUMBER_RANGE, 0 },
    { "NaN", MO_NUMBER_RANGE, 0 },
    { "nan(1)", MO_NUMBER_INVALID, 0 },
    { "infinit", MO_NUMBER_INVALID, 0 },
    { "", MO_NUMBER_INVALID, 0 },
    { ".", MO_NUMBER_INVALID, 0 },
    { "-.", MO_NUMBER_INVALID, 0 },
    { "e5", MO_NUMBER_INVALID, 0 },
    { ".e5", MO_NUMBER_INVALID, 0 },
    { "1e", MO_NUMBER_INVALID, 0 },
    { "1e+", MO_NUMBER_INVALID, 0 },
    { "1e+-2", MO_NUMBER_INVALID, 0 },
    { "1e2.5", MO_NUMBER_INVALID, 0 },
    { "1.2.3", MO_NUMBER_INVALID, 0 },
    { "1,5", MO_NUMBER_INVALID, 0 },
    { "0x1p3", MO_NUMBER_INVALID, 0 },
    { "1 2", MO_NUMBER_INVALID, 0 },
    { "12a", MO_NUMBER_INVALID, 0 },
    { "1d5", MO_NUMBER_INVALID, 0 },
};

START_TEST(double_texts_are_read_or_refused)
{
    const char *text = double_texts[_i].text;
    double value = 77;

    ck_assert_int_eq(mo_number_read_double(text, strlen(text), &value),
                     double_texts[_i].fault);
    ck_assert(value == (double_texts[_i].fault ? 77 : double_texts[_i].value));
}
END_TEST

START_TEST(reading_stops_at_the_length)
{
    static const char text[] = { '1', '2', '.', '5', '9' };
    int64_t i = 0;
    double d = 0;

    ck_assert_int_eq(mo_number_read_int(text, 2, &i), MO_NUMBER_OK);
    ck_assert_int_eq(i, 12);
    ck_assert_int_eq(mo_number_read_double(text, 4, &d), MO_NUMBER_OK);
    ck_assert(d == 12.5);
}
END_TEST

START_TEST(a_zero_byte_is_no_digit)
{
    int64_t i = 0;
    double d = 0;

    ck_assert_int_eq(mo_number_read_int("1\0002", 3, &i), MO_NUMBER_INVALID);
    ck_assert_int_eq(mo_number_read_double("1\0002", 3, &d), MO_NUMBER_INVALID);
}
END_TEST

/* A random decimal: up to 40 digits with a point and an exponent somewhere. */
static size_t random_decimal(char *text, uint64_t *state)
{
    size_t n = 0, digits = 1 + next_random(state) % 40;
    size_t point = next_random(state) % 60;

    if (next_random(state) % 4 == 0)
        text[n++] = '-';
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            text[n++] = '.';
        text[n++] = (char) ('0' + next_random(state) % 10);
    }
    if (next_random(state) % 2)
        n += (size_t) sprintf(text + n, "e%d",
                              (int) (next_random(state) % 660) - 340);
    text[n] = '\0';
    return n;
}

START_TEST(any_decimal_is_read_as_strtod_does)
{
    uint64_t state = seed(_i);

    for (int i = 0; i < 1000; i++) {
        char text[128];
        size_t n = random_decimal(text, &state);
        double wanted = strtod(text, NULL), value = 0;
        mo_number_fault fault = mo_number_read_double(text, n, &value);

        if (isinf(wanted) ? fault != MO_NUMBER_RANGE
                          : fault != MO_NUMBER_OK || !same_bits(value, wanted))
            ck_abort_msg("%s", text);
    }
}
END_TEST

/* 1 + 2^-53 lies in the middle between two doubles; a digit, however far
 * behind, decides. */
START_TEST(the_last_of_very_many_digits_counts)
{
    enum { ZEROS = 100000 };
    static const char middle[] =
        "1.00000000000000011102230246251565404236316680908203125";
    char *text = malloc(sizeof middle + ZEROS + 1);
    size_t n = sizeof middle - 1;
    double value = 0;

    memcpy(text, middle, n);
    memset(text + n, '0', ZEROS);
    n += ZEROS;
    text[n++] = '0';
    ck_assert_int_eq(mo_number_read_double(text, n, &value), MO_NUMBER_OK);
    ck_assert(value == 1);
    text[n - 1] = '1';
    ck_assert_int_eq(mo_number_read_double(text, n, &value), MO_NUMBER_OK);
    ck_assert(value == nextafter(1, 2));
    free(text);
}
END_TEST

/* 0.000...0001e100001 and 1000...000e-100000 are both 1. */
START_TEST(a_far_away_point_meets_its_exponent)
{
    enum { ZEROS = 100000 };
    char *text = malloc(ZEROS + 32);
    double value = 0;
    size_t n;

    memset(text, '0', ZEROS + 2);
    text[1] = '.';
    n = ZEROS + 2 + (size_t) sprintf(text + ZEROS + 2, "1e%d", ZEROS + 1);
    ck_assert_int_eq(mo_number_read_double(text, n, &value), MO_NUMBER_OK);
    ck_assert(value == 1);

    memset(text, '0', ZEROS + 2);
    text[0] = '1';
    n = ZEROS + 1 + (size_t) sprintf(text + ZEROS + 1, "e-%d", ZEROS);
    ck_assert_int_eq(mo_number_read_double(text, n, &value), MO_NUMBER_OK);
    ck_assert(value == 1);
    free(text);
}
END_TEST

/* A locale with a decimal comma, compiled where the package "locales" has the
 * sources; elsewhere the test is skipped. */
START_TEST(no_locale_matters)
{
    setenv("LOCPATH", ".", 1);
    if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null") != 0 ||
        !setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("no_locale_matters: skipped, package locales is missing\n");
        return;
    }
    ck_assert_str_eq(localeconv()->decimal_point, ",");
    ck_assert_str_eq(written(1.0 / 3), "0.3333333333333333");
    ck_assert_str_eq(written(1e300 / 3), "3.3333333333333335e+299");
    ck_assert(read_back("0.30000000000000004") == 0.1 + 0.2);
    setlocale(LC_ALL, "C");
}
END_TEST

SUITE(number)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(ints_are_written_and_read, COUNT(ints));
    EACH(any_int_is_written_as_printf_does, 16);
    EACH(doubles_have_one_form, COUNT(doubles));
    SOME(any_double_reads_back_to_the_same_bits, 20, 2);
    SOME(short_decimals_are_written_as_they_were, 10, 1);
    SOME(no_shorter_decimal_would_do, 10, 1);
    TEST(powers_of_two_and_ten_and_their_neighbours_read_back);
    EACH(int_texts_are_read_or_refused, COUNT(int_texts));
    EACH(double_texts_are_read_or_refused, COUNT(double_texts));
    TEST(reading_stops_at_the_length);
    TEST(a_zero_byte_is_no_digit);
    SOME(any_decimal_is_read_as_strtod_does, 20, 2);
    TEST(the_last_of_very_many_digits_counts);
    TEST(a_far_away_point_meets_its_exponent);
    TEST(no_locale_matters);
}
