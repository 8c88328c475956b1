/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/ablation.h. */
#include "base/ablation.h"

#include "tests/support/suite.h"

START_TEST(list_has_whole_names_only)
{
    ck_assert(mo_ablation_list_has("spine", "spine"));
    ck_assert(mo_ablation_list_has("a,spine,b", "spine"));
    ck_assert(mo_ablation_list_has("a,spine,", "spine"));
    ck_assert(!mo_ablation_list_has("a,spine_2,b", "spine"));
    ck_assert(!mo_ablation_list_has("spi", "spine"));
    ck_assert(!mo_ablation_list_has("", "spine"));
    ck_assert(!mo_ablation_list_has(NULL, "spine"));
}
END_TEST

SUITE(ablation)
{
    TEST(list_has_whole_names_only);
}
