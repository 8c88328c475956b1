/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/write/decimal.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/write/decimal.h"
#include "tests/support/suite.h"

static const struct {
    double value;
    const char *text;
} decimals[] = {
    { 0, "0" },
    { 1, "1" },
    { 0.5, "0.5" },
    { 12.000001, "12.000001" },
    { 0.1 + 0.2, "0.3" },
    { 1e6, "1000000" },
    { 123456789.123456, "123456789.123456" },
    { 1.0 / 3, "0.333333333333333" },
    { 2e9 / 3, "666666666.666667" },
    { 1234.56789012345678, "1234.56789012346" },
    { 999999999.9999999, "1000000000" },
    { 1e-6, "0.000001" },
    { 1.25e-7, "1.25e-7" },
    { 1e20, "100000000000000000000" },
    { 1e21, "1e+21" },
};

START_TEST(numbers_have_fifteen_digits)
{
    char text[MO_DECIMAL_ROOM];
    size_t length = mo_decimal_write(text, decimals[_i].value);

    ck_assert_msg(length == strlen(decimals[_i].text) &&
                      memcmp(text, decimals[_i].text, length) == 0,
                  "%.*s", (int) length, text);
    ck_assert_int_eq(mo_decimal_length(decimals[_i].value), length);
}
END_TEST

START_TEST(any_number_is_what_fifteen_digits_say)
{
    uint64_t bits = 88172645463325252u;
    int n = how_many(300000, 3000);

    for (int i = 0; i < n; i++) {
        char text[MO_DECIMAL_ROOM + 1] = "", expected[40];
        double value;
        size_t length;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        value = (double) (bits >> 11) * pow(10, -(int) (bits % 29));
        length = mo_decimal_write(text, value);
        snprintf(expected, sizeof expected, "%.15g", value);
        ck_assert_int_le(length, 22);
        ck_assert_int_eq(mo_decimal_length(value), length);
        ck_assert_msg(strtod(text, NULL) == strtod(expected, NULL), "%s for %s",
                      text, expected);
    }
}
END_TEST

/* More numbers than the cache has slots, each looked up twice. */
START_TEST(the_table_tells_what_writing_tells)
{
    static mo_decimals table;

    mo_decimals_init(&table);
    for (int i = 0; i < 8 * MO_DECIMAL_SLOTS; i++) {
        double value = i / 2 % (3 * MO_DECIMAL_SLOTS) * 0.375;
        const mo_decimal *decimal = mo_decimal_of(&table, value);
        char text[MO_DECIMAL_ROOM];
        size_t length = mo_decimal_write(text, value);

        ck_assert_int_eq(decimal->length, length);
        ck_assert(memcmp(decimal->text, text, length) == 0);
    }
}
END_TEST

SUITE(decimal)
{
    EACH(numbers_have_fifteen_digits, COUNT(decimals));
    TEST(any_number_is_what_fifteen_digits_say);
    TEST(the_table_tells_what_writing_tells);
}
