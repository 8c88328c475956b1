/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/read.h: detection of the format by content. */
#include <config.h>

#include "ingest/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ingest/ir_text.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define BYTES(text) text, sizeof(text) - 1

#define GRAPHML                                                                \
    "<graphml><key id='s' for='node' attr.name='shape'/>"                      \
    "<key id='d' for='node' attr.name='dtype'/>"                               \
    "<key id='o' for='node' attr.name='op'/><graph><node id='a'>"              \
    "<data key='s'>2,3</data><data key='d'>f32</data><data key='o'>relu"       \
    "</data></node></graph></graphml>"
#define OPENVINO                                                               \
    NET(PARAMETER(0, "x") RELU(1, "a") RESULT(2, "r"),                         \
        EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0))

static const struct {
    const char *bytes;
    size_t size;
    const char *format;
} files[] = {
    { BYTES(GRAPHML), "graphml" },
    { BYTES("<!-- c --><?pi?><!DOCTYPE graphml>\n" GRAPHML), "graphml" },
    { BYTES("\xff\xfe<\0g\0r\0a\0p\0h\0m\0l\0>\0<\0g\0r\0a\0p\0h\0/\0>\0"
            "<\0/\0g\0r\0a\0p\0h\0m\0l\0>\0"),
      "graphml" },
    { BYTES(OPENVINO), "openvino" },
};

START_TEST(the_root_element_tells_the_format)
{
    const mo_read_format *format = NULL;
    mo_graph *g;

    MUST(mo_read_memory("f", files[_i].bytes, files[_i].size, NULL, &g, &format,
                        &err));
    ck_assert_str_eq(format->name, files[_i].format);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_files_name_tells_nothing)
{
    const mo_read_format *format = NULL;
    mo_graph *g;

    scratch_write("model.xml", GRAPHML);
    MUST(mo_read_graph("model.xml", NULL, &g, &format, &err));
    ck_assert_str_eq(format->name, "graphml");
    mo_graph_free(g);
}
END_TEST

START_TEST(what_follows_from_the_operators_is_filled_in)
{
    mo_graph *g;

    MUST(mo_read_memory("f", GRAPHML, strlen(GRAPHML), NULL, &g, NULL, &err));
    ck_assert_int_eq(g->ops[0].output_bytes, 24);
    ck_assert_double_eq(g->ops[0].flops, 6);
    mo_graph_free(g);
}
END_TEST

/* A pipe can be read only once: peeking at its beginning must lose nothing. */
static void read_through_pipe(const char *path, int to)
{
    const mo_read_format *format = NULL;
    int ends[2], old = dup(to);
    mo_graph *g;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], OPENVINO, strlen(OPENVINO)),
                     (int) strlen(OPENVINO));
    close(ends[1]);
    ck_assert_int_ge(dup2(ends[0], to), 0);
    MUST(mo_read_graph(path, NULL, &g, &format, &err));
    ck_assert_str_eq(format->name, "openvino");
    ck_assert_int_eq(g->n_ops, 3);
    mo_graph_free(g);
    dup2(old, to);
    close(old);
    close(ends[0]);
}

START_TEST(standard_input_is_read_by_its_content)
{
    read_through_pipe("-", STDIN_FILENO);
}
END_TEST

START_TEST(a_named_pipe_is_read_by_its_content)
{
    read_through_pipe("/dev/fd/0", STDIN_FILENO);
}
END_TEST

static const struct {
    const char *text, *error;
} strangers[] = {
    { "\n<cluster/>",
      "f:2: the root element is <cluster>: a cluster; give it with -c, and the "
      "graph here" },
    { "<html><body/></html>",
      "f:1: the root element is <html>: a web page; perhaps the download went "
      "wrong" },
    { "<foo/>", "f:1: the root element is <foo>: not a graph; give one of: "
                "GraphML of any "
                "program (<graphml>), OpenVINO IR, version 10 or 11 (<net>), "
                "ONNX model" },
    { "<graphml><graph>",
      "f:1: the file ends inside element <graph> of line 1" },
    { "hello", "f:1: not well-formed XML: it does not begin with '<'" },
    { "", "f: is empty" },
};

START_TEST(other_files_are_told_what_they_are)
{
    const char *text = strangers[_i].text;
    mo_graph *g = NULL;
    mo_error err = { 0 };
    char told[2000];

    ck_assert_int_ne(
        mo_read_memory("f", text, strlen(text), NULL, &g, NULL, &err), MO_OK);
    mo_error_format(&err, told, sizeof told);
    ck_assert_msg(
        strncmp(told, strangers[_i].error, strlen(strangers[_i].error)) == 0,
        "'%s' is not '%s'", told, strangers[_i].error);
    ck_assert_ptr_null(g);
}
END_TEST

/* The root must begin in the first block; where it does not, the rest of the
 * file decides between two errors. */
START_TEST(a_late_root_is_an_error)
{
    static const char *const tails[] = { GRAPHML,
                                         "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>" };
    static const char *const errors[] = {
        "f:3: more than 65536 bytes stand before the root element",
        "f:3: the document declares entity 'b'"
    };
    size_t size = 100000;
    char *document = malloc(size + 1000), told[2000];
    mo_graph *g = NULL;
    mo_error err = { 0 };

    memset(document, ' ', size);
    memcpy(document, "<!--\n", 5);
    memcpy(document + size - 4, "-->\n", 4);
    strcpy(document + size, tails[_i]);
    ck_assert_int_ne(
        mo_read_memory("f", document, strlen(document), NULL, &g, NULL, &err),
        MO_OK);
    mo_error_format(&err, told, sizeof told);
    ck_assert_msg(strncmp(told, errors[_i], strlen(errors[_i])) == 0, "%s",
                  told);
    free(document);
}
END_TEST

START_TEST(every_format_says_what_it_is)
{
    for (const mo_read_format *f = mo_read_formats; f->name; f++) {
        ck_assert((f->root != NULL) != (f->sniff != NULL));
        ck_assert_ptr_nonnull(f->help);
        ck_assert(f->read != NULL);
    }
}
END_TEST

START_TEST(the_root_is_told_without_being_taken)
{
    static const char text[] = "<?xml version='1.0'?><!-- x --><graphml>"
                               "<graph edgedefault='directed'>"
                               "<node id='a'/></graph></graphml>";
    char name[5];
    mo_input *input;
    mo_graph *g;

    MUST(mo_input_memory("g", text, strlen(text), &input, &err));
    MUST(mo_read_root(input, name, sizeof name, &err));
    ck_assert_str_eq(name, "grap");
    MUST(mo_read_input(input, NULL, &g, NULL, &err));
    ck_assert_int_eq(g->n_ops, 1);
    mo_graph_free(g);
    mo_input_close(input);
}
END_TEST

SUITE(read)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(the_root_element_tells_the_format, COUNT(files));
    TEST(a_files_name_tells_nothing);
    TEST(what_follows_from_the_operators_is_filled_in);
    TEST(standard_input_is_read_by_its_content);
    TEST(a_named_pipe_is_read_by_its_content);
    EACH(other_files_are_told_what_they_are, COUNT(strangers));
    EACH(a_late_root_is_an_error, 2);
    TEST(every_format_says_what_it_is);
    TEST(the_root_is_told_without_being_taken);
}
