/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/write/heading.h: short lines of ASCII that escape every
 * byte. */
#include "models/write/heading.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"
#include "tests/support/suite.h"
#include "tests/models/tiny_model.h"

#define GRAPH "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8"

static char *heading_of(const tiny_model *tiny, const char *graph,
                        const char *cluster, const char *mark)
{
    static char file[] = "../where", *files[] = { file, NULL };
    const mo_heading heading = { &tiny->model, graph, cluster, files };
    mo_out *out = NULL;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_heading_write(&heading, mark, out);
    text = mo_out_take(out, &size);
    MUST(mo_out_commit(out, &err));
    return text;
}

START_TEST(all_is_told)
{
    static const char wanted[] = "* graph: g.graphml\n"
                                 "* cluster: inter-server\n"
                                 "* formulation: tiny\n"
                                 "* congestion: port, tensors: per-edge, "
                                 "memory: static\n"
                                 "* time unit: 100 ns\n"
                                 "* horizon: 1234.56\n"
                                 "* identity: moirai_g_1\n"
                                 "* identity: moirai_i_2\n"
                                 "* file: ../where\n"
                                 "* op 0 a\n"
                                 "* op 1 b\n"
                                 "* device 0 A\n"
                                 "* device 1 B\n"
                                 "* transfer 0 a -> b\n";
    tiny_model tiny;
    char *text;

    tiny_model_make(&tiny, GRAPH);
    text = heading_of(&tiny, "some/where/g.graphml", "inter-server", "*");
    ck_assert_int_eq(strncmp(text, "* moirai ", 9), 0);
    ck_assert_str_eq(strchr(text, '\n') + 1, wanted);
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(a_tensor_sent_once_goes_to_a_device)
{
    tiny_model tiny;
    char *text;

    tiny_model_make(&tiny, GRAPH);
    tiny_model_send_once(&tiny);
    text = heading_of(&tiny, NULL, NULL, "\\");
    ck_assert_ptr_nonnull(strstr(text, "\n\\ transfer 2 a -> device B\n"));
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(standard_input_has_no_name)
{
    tiny_model tiny;
    char *text;

    tiny_model_make(&tiny, GRAPH);
    text = heading_of(&tiny, "-", NULL, "\\");
    ck_assert_ptr_null(strstr(text, "graph"));
    ck_assert_ptr_null(strstr(text, "cluster"));
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(closure_is_an_option)
{
    tiny_model tiny;
    char *text;

    tiny_model_make(&tiny, GRAPH);
    tiny.frame.closure = true;
    text = heading_of(&tiny, NULL, NULL, "\\");
    ck_assert_ptr_nonnull(strstr(text, "\n\\ formulation: tiny --closure\n"));
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(names_stay_in_their_line)
{
    static const struct {
        const char *name, *shown;
    } names[] = {
        { "two\nlines", "two\\x0alines" },
        { "caf\xc3\xa9", "caf\\xc3\\xa9" },
        { "a\\b", "a\\\\b" },
        { "\x7f\x1b[1m", "\\x7f\\x1b[1m" },
        { "End", "End" },
    };
    tiny_model tiny;
    char *text, wanted[64];

    tiny_model_make(&tiny, GRAPH);
    tiny.p.x->op_names[0] = names[_i].name;
    text = heading_of(&tiny, NULL, NULL, "\\");
    snprintf(wanted, sizeof wanted, "\n\\ op 0 %s\n", names[_i].shown);
    ck_assert_ptr_nonnull(strstr(text, wanted));
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

START_TEST(no_line_is_long_whatever_the_names)
{
    tiny_model tiny;
    char *text, *line, name[5000];

    memset(name, _i == 0 ? 'n' : '\xff', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tiny_model_make(&tiny, GRAPH);
    tiny.p.x->op_names[0] = tiny.p.x->op_names[1] = name;
    tiny.p.x->device_ids[0] = name;
    text = heading_of(&tiny, name, name, "\\");
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_uint_le(strlen(line), 200);
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

/* LP and MPS. */
START_TEST(a_model_ends_with_its_digest)
{
    const bool mps = _i == 1;
    char end[MO_HEADING_END_SIZE];
    tiny_model tiny;
    mo_heading heading;
    mo_sink *sink = NULL;
    mo_out *out = NULL;
    char *text;
    size_t size, length;

    tiny_model_make(&tiny, GRAPH);
    heading = (mo_heading){ &tiny.model, "g", "c", NULL };
    MUST(mo_out_memory(&out, &err));
    if (mps)
        MUST(mo_mps_writer_new(out, &heading, &sink, &err));
    else
        MUST(mo_lp_writer_new(out, &heading, &sink, &err));
    MUST(mo_model_write(&tiny.model, sink, &err));
    mo_sink_free(sink);
    text = mo_out_take(out, &size);
    MUST(mo_out_commit(out, &err));
    length = mo_heading_end(mps, 0, end);
    ck_assert_uint_gt(size, length);
    mo_heading_end(mps, mo_digest_of(text, size - length), end);
    ck_assert_str_eq(text + size - length, end);
    free(text);
    tiny_model_clear(&tiny);
}
END_TEST

SUITE(heading)
{
    TEST(all_is_told);
    TEST(a_tensor_sent_once_goes_to_a_device);
    TEST(standard_input_has_no_name);
    TEST(closure_is_an_option);
    EACH(names_stay_in_their_line, 5);
    EACH(no_line_is_long_whatever_the_names, 2);
    EACH(a_model_ends_with_its_digest, 2);
}
