/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/regime.h: names and values. */
#include "schedule/regime.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static void check_choices(const char *const *names, int n, const char *choices)
{
    char text[256] = "";

    for (int i = 0; i < n; i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "|" : "",
                 names[i]);
    }
    ck_assert_str_eq(text, choices);
}

START_TEST(choices_are_the_names)
{
    check_choices(mo_congestion_names, 4, MO_CONGESTION_CHOICES);
    check_choices(mo_tensors_names, 2, MO_TENSORS_CHOICES);
    check_choices(mo_memory_names, 3, MO_MEMORY_CHOICES);
}
END_TEST

START_TEST(names_lead_back_to_values)
{
    ck_assert_int_eq(mo_congestion_of("port"), MO_CONGESTION_PORT);
    ck_assert_int_eq(mo_congestion_of("channel"), MO_CONGESTION_CHANNEL);
    ck_assert_int_eq(mo_congestion_of("link"), MO_CONGESTION_LINK);
    ck_assert_int_eq(mo_congestion_of("none"), MO_CONGESTION_NONE);
    ck_assert_int_eq(mo_tensors_of("per-edge"), MO_TENSORS_PER_EDGE);
    ck_assert_int_eq(mo_tensors_of("once"), MO_TENSORS_ONCE);
    ck_assert_int_eq(mo_memory_of("static"), MO_MEMORY_STATIC);
    ck_assert_int_eq(mo_memory_of("live"), MO_MEMORY_LIVE);
    ck_assert_int_eq(mo_memory_of("none"), MO_MEMORY_NONE);
}
END_TEST

SUITE(regime)
{
    TEST(choices_are_the_names);
    TEST(names_lead_back_to_values);
}
