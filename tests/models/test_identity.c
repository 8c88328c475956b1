/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/identity.h: contents of the names, and that all readers
 * accept them. */
#include "models/identity.h"

#include <string.h>

#include "models/formulation.h"
#include "tests/support/suite.h"

START_TEST(digests_and_options_are_told)
{
    static const char *const plain[] = {
        "moirai_g_00000000000000ab",
        "moirai_c_000000000000000c",
        "moirai_o_compact.port.once.static.none",
        "moirai_i_fedcba9876543210",
    };
    mo_instance x = { .cluster_digest = 0xc, .digest = 0xfedcba9876543210 };
    mo_identity_options options = {
        .formulation = "compact",
        .regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_STATIC },
        .fusion = "none",
        .graph_digest = 0xab
    };
    mo_identity identity;

    mo_identity_make(&x, &options, &identity);
    ck_assert_int_eq(identity.n, COUNT(plain));
    for (int i = 0; i < identity.n; i++)
        ck_assert_str_eq(identity.name[i], plain[i]);
}
END_TEST

START_TEST(a_profile_and_rules_are_told_when_there_are_any)
{
    mo_instance x = { .profile_digest = 1 };
    mo_identity_options options = { .formulation = "paper",
                                    .fusion = "file",
                                    .has_rules = true,
                                    .rules_digest = 2,
                                    .unit_ns = 1000 };
    mo_identity identity;

    mo_identity_make(&x, &options, &identity);
    ck_assert_int_eq(identity.n, MO_IDENTITY_NAMES);
    ck_assert_str_eq(identity.name[2], "moirai_p_0000000000000001");
    ck_assert_str_eq(identity.name[3], "moirai_f_0000000000000002");
    ck_assert_str_eq(identity.name[5], "moirai_u_1000");
}
END_TEST

/* Every formulation in every regime. */
START_TEST(every_name_is_one_that_readers_take)
{
    mo_instance x = { .profile_digest = 1 };
    mo_identity_options options = {
        .formulation = mo_formulations[_i / 24]->name,
        .regime = { _i / 6 % 4, _i / 3 % 2, _i % 3 },
        .fusion = "cublaslt",
    };
    mo_identity identity;

    mo_identity_make(&x, &options, &identity);
    for (int i = 0; i < identity.n; i++) {
        ck_assert_uint_le(strlen(identity.name[i]), 96);
        ck_assert_uint_eq(strspn(identity.name[i], "abcdefghijklmnopqrstuvwxyz"
                                                   "0123456789_."),
                          strlen(identity.name[i]));
    }
}
END_TEST

SUITE(identity)
{
    int n = 0;

    while (mo_formulations[n])
        n++;
    TEST(digests_and_options_are_told);
    TEST(a_profile_and_rules_are_told_when_there_are_any);
    EACH(every_name_is_one_that_readers_take, n * 24);
}
