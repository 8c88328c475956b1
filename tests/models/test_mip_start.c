/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/write/mip_start.h: the bytes of each layout, and its choice
 * by file name. */
#include "models/write/mip_start.h"

#include "tests/support/suite.h"
#include "tests/models/tiny_model.h"

#define GRAPH "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8"

static mo_mip_start_layout layout;

static mo_status new_sink(mo_out *out, const tiny_model *tiny, mo_sink **sink,
                          mo_error *err)
{
    (void) tiny;
    return mo_mip_start_new(out, layout, sink, err);
}

static const struct {
    mo_mip_start_layout layout;
    const char *text;
} layouts[] = {
    { MO_MIP_START_MIPLIB, "=obj= 7.5\nw 7.5\nx_0_1 1\ns_1 2.25\n"
                           "moirai_g_1 1\nmoirai_i_2 1\n" },
    { MO_MIP_START_GUROBI, "# MIP start of objective 7.5\n"
                           "w 7.5\nx_0_1 1\nx_1_0 0\ns_1 2.25\nt_0 0\n"
                           "y_0_1_0 0\no_1_0 0\nh_0_0 0\na_1 0\n"
                           "moirai_g_1 1\nmoirai_i_2 1\n" },
    { MO_MIP_START_CBC, "Start - objective value 7.5\n"
                        "0 w 7.5 1\n1 x_0_1 1 0\n2 x_1_0 0 0\n3 s_1 2.25 0\n"
                        "4 t_0 0 0\n5 y_0_1_0 0 0\n6 o_1_0 0 0\n7 h_0_0 0 0\n"
                        "8 a_1 0 0\n9 moirai_g_1 1 0\n10 moirai_i_2 1 0\n" },
};

START_TEST(a_layout_is_written_to_the_letter)
{
    tiny_model tiny;
    char *text;

    layout = layouts[_i].layout;
    tiny_model_make(&tiny, GRAPH);
    text = tiny_model_text(&tiny, new_sink);
    ck_assert_str_eq(text, layouts[_i].text);
    ck_assert_int_eq(tiny.rows_sent, 0);
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(the_name_tells_the_layout)
{
    static const struct {
        const char *path;
        mo_mip_start_layout layout;
    } names[] = {
        { "a.mst", MO_MIP_START_GUROBI },
        { "d/a.cbc", MO_MIP_START_CBC },
        { "a.sol", MO_MIP_START_MIPLIB },
        { "-", MO_MIP_START_MIPLIB },
        { "", MO_MIP_START_MIPLIB },
        { "a.mst.sol", MO_MIP_START_MIPLIB },
        { "a.mst.gz", MO_MIP_START_GUROBI },
        { "a.cbc.zst", MO_MIP_START_CBC },
    };

    ck_assert_int_eq(mo_mip_start_layout_of(names[_i].path), names[_i].layout);
}
END_TEST

SUITE(mip_start)
{
    EACH(a_layout_is_written_to_the_letter, COUNT(layouts));
    EACH(the_name_tells_the_layout, 8);
}
