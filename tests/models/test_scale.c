/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/sink/scale.h. */
#include <string.h>

#include "models/sink/scale.h"
#include "tests/support/suite.h"

static const struct {
    int64_t horizon_ns, unit_ns;
    const char *text;
} units[] = {
    { 0, 1, "1 ns" },
    { 99, 1, "1 ns" },
    { 100, 1, "1 ns" },
    { 10000, 1, "1 ns" },
    { 10001, 10, "10 ns" },
    { 99999, 10, "10 ns" },
    { 100000, 1000, "1 us" },
    { 10000000, 1000, "1 us" },
    { 10000001, 10000, "10 us" },
    { 100000000, 1000000, "1 ms" },
    { 10000000000, 1000000, "1 ms" },
    { 10000000001, 10000000, "10 ms" },
    { 100000000000, 1000000000, "1 s" },
    { INT64_MAX, 1000000000000000, "1000000 s" },
};

START_TEST(a_horizon_has_its_unit)
{
    char text[32];

    ck_assert_int_eq(mo_scale_unit_ns(units[_i].horizon_ns), units[_i].unit_ns);
    ck_assert_int_eq(mo_scale_unit_text(units[_i].unit_ns, text),
                     strlen(units[_i].text));
    ck_assert_str_eq(text, units[_i].text);
}
END_TEST

START_TEST(any_horizon_is_between_a_hundred_and_ten_thousand_units)
{
    for (int64_t ns = 100; ns < INT64_MAX / 3; ns = ns * 3 / 2 + 1) {
        double units_of = (double) ns / (double) mo_scale_unit_ns(ns);

        ck_assert_msg(units_of >= 100 && units_of <= 10000, "%lld ns",
                      (long long) ns);
    }
}
END_TEST

static const struct {
    int64_t unit_ns, ns;
    double time;
} times[] = {
    { 1, 7, 7 },
    { 1000, 1, 0.001 },
    { 1000, 123456789, 123456.789 },
    { 1000000, -1, -0.000001 },
    { 10000000, 4, 0 },
    { 10000000, 5, 0.000001 },
    { 10000000, -5, -0.000001 },
    { 10000000, -4, 0 },
    { 1000000000, 1499, 0.000001 },
    { 1000000000, 1500, 0.000002 },
    { 1000000000, 1234567890123, 1234.56789 },
    { 1000000000000000, INT64_MAX, 9223.372037 },
};

START_TEST(times_are_rounded_to_millionths)
{
    ck_assert_msg(mo_scale_time(times[_i].unit_ns, times[_i].ns) ==
                      times[_i].time,
                  "%.17g", mo_scale_time(times[_i].unit_ns, times[_i].ns));
}
END_TEST

START_TEST(sizes_in_memory_rows_are_exact)
{
    static const int64_t bytes[] = { 4096 * 3, 0, 4096 * 70000, 4096 * 25 };
    int64_t capacity = 4096 * (int64_t) 123456 + 4095;
    mo_memory_scale scale = mo_memory_scale_for(bytes, 4, capacity);

    ck_assert_int_eq(scale.shared, 4096);
    ck_assert(scale.ten == 1);
    ck_assert(mo_memory_scale_size(&scale, bytes[0]) == 3);
    ck_assert(mo_memory_scale_size(&scale, bytes[1]) == 0);
    ck_assert(mo_memory_scale_size(&scale, bytes[2]) == 70000);
    ck_assert(mo_memory_scale_size(&scale, capacity) == 123456);
}
END_TEST

START_TEST(what_is_below_a_millionth_vanishes)
{
    static const int64_t bytes[] = { 1, 10, 100 };
    mo_memory_scale scale =
        mo_memory_scale_for(bytes, 3, (int64_t) 8000000000000);

    ck_assert(scale.ten == 1e8);
    ck_assert(mo_memory_scale_size(&scale, 1) == 0);
    ck_assert(mo_memory_scale_size(&scale, 99) == 0);
    ck_assert(mo_memory_scale_size(&scale, 100) == 1e-6);
}
END_TEST

START_TEST(no_sizes_have_a_scale)
{
    mo_memory_scale scale = mo_memory_scale_for(NULL, 0, INT64_MAX);

    ck_assert_int_eq(scale.shared, 1);
    ck_assert(mo_memory_scale_size(&scale, 0) == 0);
}
END_TEST

SUITE(scale)
{
    EACH(a_horizon_has_its_unit, COUNT(units));
    TEST(any_horizon_is_between_a_hundred_and_ten_thousand_units);
    EACH(times_are_rounded_to_millionths, COUNT(times));
    TEST(sizes_in_memory_rows_are_exact);
    TEST(what_is_below_a_millionth_vanishes);
    TEST(no_sizes_have_a_scale);
}
