/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/write/column_map.h: the meaning of every column, in CSV that
 * can hold any name. */
#include "models/write/column_map.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/models/tiny_model.h"

#define HEAD                                                                   \
    "column,kind,meaning,op,reader,target,op2,reader2,target2,device,"         \
    "device2\n"

static mo_status new_sink(mo_out *out, const tiny_model *tiny, mo_sink **sink,
                          mo_error *err)
{
    return mo_column_map_new(out, &tiny->model, sink, err);
}

static void expect(bool once, const char *graph, const char *wanted)
{
    tiny_model tiny;
    char *text;

    tiny_model_make(&tiny, graph);
    if (once)
        tiny_model_send_once(&tiny);
    text = tiny_model_text(&tiny, new_sink);
    ck_assert_str_eq(text, wanted);
    free(text);
    tiny_model_clear(&tiny);
}

START_TEST(every_column_is_explained)
{
    expect(false, "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8",
           HEAD "w,continuous,makespan,,,,,,,,\n"
                "x_0_1,binary,place,a,,,,,,B,\n"
                "x_1_0,binary,place,b,,,,,,A,\n"
                "s_1,continuous,start,b,,,,,,,\n"
                "t_0,continuous,send,a,b,,,,,,\n"
                "y_0_1_0,continuous,channel,a,b,,,,,B,A\n"
                "o_1_0,binary,order,b,,,a,,,,\n"
                "h_0_0,binary,send-order,a,b,,a,b,,,\n"
                "a_1,continuous,workspace,,,,,,,B,\n"
                "moirai_g_1,continuous,identity,,,,,,,,\n"
                "moirai_i_2,continuous,identity,,,,,,,,\n");
}
END_TEST

START_TEST(what_is_sent_once_has_a_target)
{
    tiny_model tiny;
    char *text;

    tiny_model_make(&tiny, "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8");
    tiny_model_send_once(&tiny);
    text = tiny_model_text(&tiny, new_sink);
    ck_assert_ptr_nonnull(strstr(text, "\nt_2,continuous,send,a,,B,,,,,\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nh_2_2,binary,send-order,a,,B,a,,B,,\n"));
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(names_are_quoted_where_they_must_be)
{
    static const struct {
        const char *name, *field;
    } names[] = {
        { "a,b", "\"a,b\"" },
        { "say\"so\"", "\"say\"\"so\"\"\"" },
        { "two\nlines", "\"two\nlines\"" },
        { "cr\r", "\"cr\r\"" },
        { "caf\xc3\xa9", "caf\xc3\xa9" },
        { "'", "'" },
    };
    tiny_model tiny;
    char *text, wanted[64];

    tiny_model_make(&tiny, "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8");
    tiny.p.x->op_names[0] = names[_i].name;
    text = tiny_model_text(&tiny, new_sink);
    snprintf(wanted, sizeof wanted, "\nx_0_1,binary,place,%s,,,,,,B,\n",
             names[_i].field);
    ck_assert_ptr_nonnull(strstr(text, wanted));
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

SUITE(column_map)
{
    TEST(every_column_is_explained);
    TEST(what_is_sent_once_has_a_target);
    EACH(names_are_quoted_where_they_must_be, 6);
}
