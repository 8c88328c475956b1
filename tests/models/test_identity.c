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
        "moirai_o_compact.port.once.static.none.12657fdfda76dcf3",
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
    ck_assert_int_eq(identity.n, 7);
    ck_assert_str_eq(identity.name[2], "moirai_p_0000000000000001");
    ck_assert_str_eq(identity.name[3], "moirai_f_0000000000000002");
    ck_assert_str_eq(identity.name[5], "moirai_u_1000");
}
END_TEST

START_TEST(files_are_named_behind_their_digests)
{
    static const struct {
        const char *path, *name;
    } cases[] = {
        { "inception.graphml", "_inception.graphml" },
        { "/a/b/Net.xml", "_Net.xml" },
        { "-", "" },
        { NULL, "" },
        { "a_b-c d\n\xc3\xa9", "_a__b_2dc_20d_0a_c3_a9" },
    };
    mo_instance x = { .cluster_digest = 0xc };
    mo_identity identity;

    for (size_t i = 0; i < COUNT(cases); i++) {
        mo_identity_options options = { .formulation = "compact",
                                        .fusion = "none",
                                        .graph_file = cases[i].path };

        mo_identity_make(&x, &options, &identity);
        ck_assert_int_eq(
            strncmp(identity.name[0], "moirai_g_0000000000000000", 25), 0);
        ck_assert_str_eq(identity.name[0] + 25, cases[i].name);
    }
}
END_TEST

/* Any bytes, of any length: what fits is decoded as it was. */
START_TEST(names_are_decoded_as_they_were)
{
    for (int length = 0; length < 200; length++) {
        char text[201] = "", name[MO_VARIABLE_NAME] = "moirai_x_";
        char back[MO_VARIABLE_NAME];
        bool cut, fits;

        for (int i = 0; i < length; i++)
            text[i] = (char) (1 + (i * 7 + length * 31) % 255);
        fits = mo_identity_encode(text, name, sizeof name);
        ck_assert_uint_lt(strlen(name), sizeof name);
        ck_assert(mo_identity_decode(name + 9, back, &cut));
        ck_assert_int_eq(cut, !fits);
        ck_assert(fits || length > 20);
        ck_assert(fits ? strcmp(back, text) == 0
                       : strncmp(back, text, strlen(back)) == 0);
    }
}
END_TEST

START_TEST(what_is_no_code_is_refused)
{
    static const char *const cases[] = { "a-b", "_g0", "_00", "_2", "a b" };
    char text[16];
    bool cut;

    for (size_t i = 0; i < COUNT(cases); i++)
        ck_assert(!mo_identity_decode(cases[i], text, &cut));
}
END_TEST

/* Names must differ: however many shapes do not fit, one column stands for
 * them. */
START_TEST(shapes_values_and_cost_model_are_told)
{
    static const char many[] = "input_with_a_name_that_is_far_too_long_for_a_"
                               "column_of_a_model_in_any_file_format=1,2,3,4";
    static const char *shapes[] = { "x=1,3", many, "y=2", many };
    static const char *values[] = { "rate=16000", "scale=0.5,-1", many };
    mo_instance x = { .cluster_digest = 0xc,
                      .formats = { MO_MATH_F16, "int4", 4.5 } };
    mo_identity_options options = {
        .formulation = "compact",
        .fusion = "none",
        .cost = "roofline:/a/fit.xml",
        .read = { .shapes = { .items = shapes, .count = COUNT(shapes) },
                  .values = { .items = values, .count = COUNT(values) } }
    };
    mo_identity identity;

    mo_identity_make(&x, &options, &identity);
    ck_assert_int_eq(identity.n, 12);
    ck_assert_str_eq(identity.name[3], "moirai_k_roofline_3afit.xml");
    ck_assert_str_eq(identity.name[4], "moirai_t_f16_2bint4_3a4.5");
    ck_assert_str_eq(identity.name[5], "moirai_s_x_3d1_2c3");
    ck_assert_str_eq(identity.name[6], "moirai_s_y_3d2");
    ck_assert_str_eq(identity.name[7], "moirai_s__");
    ck_assert_str_eq(identity.name[8], "moirai_v_rate_3d16000");
    ck_assert_str_eq(identity.name[9], "moirai_v_scale_3d0.5_2c_2d1");
    ck_assert_str_eq(identity.name[10], "moirai_v__");
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
        .graph_file = "lower-case (copy) of something with a very long name, "
                      "which is more than a column has room for.graphml",
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
    TEST(files_are_named_behind_their_digests);
    TEST(names_are_decoded_as_they_were);
    TEST(what_is_no_code_is_refused);
    TEST(shapes_values_and_cost_model_are_told);
    EACH(every_name_is_one_that_readers_take, n * 24);
}
