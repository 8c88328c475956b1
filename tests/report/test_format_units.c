/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/format_units.h. */
#include "report/format_units.h"
#include "tests/support/suite.h"

static const struct {
    const char *(*show)(double value, char *text);
    double value;
    const char *text;
} cases[] = {
    { mo_format_bytes, 0, "0 B" },
    { mo_format_bytes, 1, "1 B" },
    { mo_format_bytes, 999, "999 B" },
    { mo_format_bytes, 1000, "0.98 KiB" }, /* never four digits */
    { mo_format_bytes, 1024, "1.00 KiB" },
    { mo_format_bytes, 10235, "10.0 KiB" }, /* 9.995: rounds to two digits */
    { mo_format_bytes, 102236160, "97.5 MiB" },
    { mo_format_bytes, 1047527424, "999 MiB" },
    { mo_format_bytes, 1048051712, "0.98 GiB" },
    { mo_format_bytes, 9223372036854775807.0, "8.00 EiB" },
    { mo_format_bytes, -1, "unknown" },
    { mo_format_flops, 0, "0 FLOP" },
    { mo_format_flops, 999, "999 FLOP" },
    { mo_format_flops, 1000, "1.00 kFLOP" },
    { mo_format_flops, 8178000000.0, "8.18 GFLOP" },
    { mo_format_flops, 99960000.0, "100 MFLOP" },
    { mo_format_flops, 999499, "999 kFLOP" },
    { mo_format_flops, 999500, "1.00 MFLOP" },
    { mo_format_flops, 1e300, "1.00e+282 EFLOP" },
    { mo_format_us, 0, "0.00 us" },
    { mo_format_us, 0.128, "0.13 us" },
    { mo_format_us, 12.34, "12.3 us" },
    { mo_format_us, 1520, "1.52 ms" },
    { mo_format_us, 2.5e6, "2.50 s" },
    { mo_format_us, -1, "unknown" },
    { mo_format_percent, 0, "0.00" },
    { mo_format_percent, 1e-12, "<0.01" },
    { mo_format_percent, 0.000099, "<0.01" }, /* though it rounds to it */
    { mo_format_percent, 0.0001, "0.01" },
    { mo_format_percent, 0.0581, "5.81" },
    { mo_format_percent, 1, "100.00" },
    { mo_format_percent, -1e-12, "0.00" },
};

START_TEST(amounts_have_three_digits_and_a_unit)
{
    char text[MO_FORMAT_SIZE];

    ck_assert_str_eq(cases[_i].show(cases[_i].value, text), cases[_i].text);
}
END_TEST

static const struct {
    int64_t ns;
    const char *text;
} times[] = {
    { 0, "0 us" },
    { 1, "0.001 us" },
    { 95100, "95.1 us" },
    { 999999, "999.999 us" },
    { 1000000, "1 ms" },
    { 1278110, "1.27811 ms" },
    { 239085793, "239.08579 ms" },
    { 1743958290, "1.74396 s" },
    { 60000000000, "60 s" },
    { -1500, "-1.5 us" },
    { INT64_MAX, "9223372036.85478 s" },
};

START_TEST(times_change_their_unit_and_keep_their_digits)
{
    char text[MO_FORMAT_SIZE];

    ck_assert_str_eq(mo_format_time(times[_i].ns, text), times[_i].text);
}
END_TEST

SUITE(format_units)
{
    EACH(times_change_their_unit_and_keep_their_digits, COUNT(times));
    EACH(amounts_have_three_digits_and_a_unit, COUNT(cases));
}
