/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/graphml.h: the writer. */
#include "ingest/graphml.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/graphml_text.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "tests/support/graph_text.h"

static char *written(const mo_graph *g)
{
    mo_out *out;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_graphml_write(g, out);
    text = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(strlen(text), size);
    mo_out_abandon(out);
    return text;
}

static mo_graph *read_text(const char *text)
{
    mo_graph *g;

    MUST(mo_graphml_read_memory("g", text, strlen(text), NULL, &g, &err));
    return g;
}

static uint64_t digest(const mo_graph *g)
{
    uint64_t value = 0;

    MUST(mo_graph_digest(g, &value, &err));
    return value;
}

#define HEAD                                                                   \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                             \
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
#define GRAPH "  <graph edgedefault=\"directed\">\n"
#define TAIL  "  </graph>\n</graphml>\n"

/* Input and output, byte by byte. */
static const struct {
    const char *document, *text;
} writings[] = {
    { GRAPHML("", ""), HEAD GRAPH TAIL },
    { "<graphml><graph id='&lt;net&gt;'/></graphml>",
      HEAD "  <graph id=\"&lt;net&gt;\" edgedefault=\"directed\">\n" TAIL },
    { GRAPHML("", NODE("b", "") NODE("a", "") EDGE("b", "a", "")),
      HEAD GRAPH "    <node id=\"b\"></node>\n"
                 "    <node id=\"a\"></node>\n"
                 "    <edge source=\"b\" target=\"a\"></edge>\n" TAIL },
    /* Only what is used is declared, in the order of the table. */
    { GRAPHML(KEY("m", "node", "mem") KEY("o", "node", "type")
                  KEY("p", "node", "pin"),
              NODE("a", DATA("m", "1e3") DATA("o", "conv"))),
      HEAD
      "  <key id=\"op\" for=\"node\" attr.name=\"op\" attr.type=\"string\"/>\n"
      "  <key id=\"memory\" for=\"node\" attr.name=\"memory\" "
      "attr.type=\"double\"/>\n" GRAPH
      "    <node id=\"a\"><data key=\"op\">conv</data><data key=\"memory\">1000"
      "</data></node>\n" TAIL },
    /* Memory that is the sum of its parts is left out. */
    { GRAPHML(KEY("w", "node", "weight_bytes") KEY("m", "node", "memory"),
              NODE("a", DATA("w", "8") DATA("m", "8"))),
      HEAD
      "  <key id=\"weight_bytes\" for=\"node\" attr.name=\"weight_bytes\" "
      "attr.type=\"double\"/>\n" GRAPH
      "    <node id=\"a\"><data key=\"weight_bytes\">8</data></node>\n" TAIL },
    /* So do an edge's bytes that are its producer's. */
    { GRAPHML(KEY("o", "node", "output_bytes") KEY("b", "edge", "bytes"),
              NODE("a", DATA("o", "4")) NODE("b", "") NODE("c", "") EDGE(
                  "a", "b", DATA("b", "4")) EDGE("a", "c", DATA("b", "2"))),
      HEAD
      "  <key id=\"output_bytes\" for=\"node\" attr.name=\"output_bytes\" "
      "attr.type=\"double\"/>\n"
      "  <key id=\"edge_bytes\" for=\"edge\" attr.name=\"bytes\" "
      "attr.type=\"double\"/>\n" GRAPH
      "    <node id=\"a\"><data key=\"output_bytes\">4</data></node>\n"
      "    <node id=\"b\"></node>\n"
      "    <node id=\"c\"></node>\n"
      "    <edge source=\"a\" target=\"b\"></edge>\n"
      "    <edge source=\"a\" target=\"c\"><data key=\"edge_bytes\">2</data>"
      "</edge>\n" TAIL },
    /* Coarse ops, and outputs of the network. */
    { GRAPHML(KEY("m", "node", "members") KEY("l", "node", "output"),
              NODE("a", DATA("m", "[\"a\",\"&lt;\"]")) NODE("b", DATA("l", "1"))
                  NODE("c", DATA("l", "0"))),
      HEAD "  <key id=\"members\" for=\"node\" attr.name=\"members\" "
           "attr.type=\"string\"/>\n"
           "  <key id=\"output\" for=\"node\" attr.name=\"output\" "
           "attr.type=\"boolean\"/>\n" GRAPH "    <node id=\"a\"><data "
           "key=\"members\">[&quot;a&quot;,&quot;&lt;&quot;]"
           "</data></node>\n"
           "    <node id=\"b\"><data key=\"output\">true</data></node>\n"
           "    <node id=\"c\"></node>\n" TAIL },
    /* Columns, constants and named ports. */
    { GRAPHML(
          DEFAULT("t", "node", "time_us.A", "0.5")
              KEY("c", "edge", "comm_us.A.B") KEY("k", "node", "constant"),
          NODE("a", DATA("t", "1.25")) NODE("b", "") NODE(
              "w", DATA("k", "1")) "<edge source='a' target='b' "
                                   "targetport='left'>" DATA(
                                       "c", "3") "</edge>" EDGE("w", "b", "")),
      HEAD
      "  <key id=\"constant\" for=\"node\" attr.name=\"constant\" "
      "attr.type=\"boolean\"/>\n"
      "  <key id=\"t0\" for=\"node\" attr.name=\"time_us.A\" "
      "attr.type=\"double\"><default>0.5</default></key>\n"
      "  <key id=\"dst_port\" for=\"edge\" attr.name=\"dst_port\" "
      "attr.type=\"string\"/>\n"
      "  <key id=\"c0\" for=\"edge\" attr.name=\"comm_us.A.B\" "
      "attr.type=\"double\"/>\n" GRAPH
      "    <node id=\"a\"><data key=\"t0\">1.25</data></node>\n"
      "    <node id=\"b\"></node>\n"
      "    <node id=\"w\"><data key=\"constant\">true</data></node>\n"
      "    <edge source=\"a\" target=\"b\"><data key=\"dst_port\">left</data>"
      "<data key=\"c0\">3</data></edge>\n"
      "    <edge source=\"w\" target=\"b\"></edge>\n" TAIL },
};

START_TEST(a_graph_is_written_as_it_should_be)
{
    mo_graph *g = read_text(writings[_i].document);
    char *text = written(g);

    ck_assert_str_eq(text, writings[_i].text);
    free(text);
    mo_graph_free(g);
}
END_TEST

static void must_survive(const mo_graph *g, const char *what)
{
    char *text = written(g), *again;
    mo_graph *read = read_text(text);

    ck_assert_msg(digest(g) == digest(read), "%s: another graph came back",
                  what);
    again = written(read);
    ck_assert_msg(strcmp(text, again) == 0, "%s: other bytes came back", what);
    mo_graph_free(read);
    free(again);
    free(text);
}

START_TEST(a_random_graph_is_read_back_equal)
{
    mo_graph *g = random_graph((unsigned) _i, 1 + _i % 40);
    char what[40];

    snprintf(what, sizeof what, "seed %d", _i);
    must_survive(g, what);
    mo_graph_free(g);
}
END_TEST

START_TEST(the_same_graph_is_the_same_bytes)
{
    mo_graph *g = random_graph((unsigned) _i, 1 + _i % 40);
    mo_graph *shuffled = random_graph_permuted((unsigned) _i, 1 + _i % 40, 1);
    char *a = written(g), *b = written(shuffled);

    ck_assert_msg(strcmp(a, b) == 0, "seed %d", _i);
    free(b);
    free(a);
    mo_graph_free(shuffled);
    mo_graph_free(g);
}
END_TEST

/* Texts of every kind, more of them than are cached, some very long. */
START_TEST(many_different_values_are_read_back_equal)
{
    static char text[5000];
    mo_builder *b;
    mo_graph *g;

    MUST(mo_builder_new("g", &b, &err));
    for (int i = 0; i < 500; i++) {
        char name[20];
        int slot, length = snprintf(name, sizeof name, "op<%d>", i);
        mo_op *op;

        memset(text, i % 2 ? '&' : 'x', (size_t) (i * 9 + 1));
        text[0] = (char) ('a' + i % 20);
        MUST(mo_builder_slot(b, name, (size_t) length, 1, &slot, &err));
        MUST(mo_builder_define(b, slot, 1, &op, &err));
        MUST(mo_builder_text(b, text, (size_t) (i * 9 + 1), &op->type, &err));
        op = mo_builder_op(b, slot);
        op->flops = i * 0.1;
        op->bytes = i % 3 ? MO_UNKNOWN : i * 1e300;
        op->output_bytes = i % 5 ? i : MO_UNKNOWN;
        op->memory_bytes = INT64_MAX - i;
    }
    MUST(mo_builder_finish(b, &g, &err));
    must_survive(g, "many values");
    mo_graph_free(g);
    mo_builder_free(b);
}
END_TEST

static const char *data;

/* Every graph of a folder, whatever its format. */
static int survive_folder(const char *folder, const char *ending)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[PATH_MAX + NAME_MAX + 2];
    int n = 0;

    while (dir && (entry = readdir(dir))) {
        size_t length = strlen(entry->d_name);
        mo_graph *g;

        if (length < strlen(ending) ||
            strcmp(entry->d_name + length - strlen(ending), ending) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        MUST(mo_read_graph(path, NULL, &g, NULL, &err));
        must_survive(g, path);
        mo_graph_free(g);
        n++;
    }
    if (dir)
        closedir(dir);
    return n;
}

static const struct {
    const char *folder, *ending;
    int at_least;
} folders[] = {
    { "runnable/small_bert", ".xml", 1 }, { "runnable/small_swin", ".xml", 1 },
    { "neusight", ".graphml", 2 },        { "openvino", ".xml", 7 },
    { "authors", ".graphml", 4 },
};

START_TEST(a_real_graph_is_read_back_equal)
{
    char folder[PATH_MAX];
    int n;

    snprintf(folder, sizeof folder, "%s/%s", data, folders[_i].folder);
    n = survive_folder(folder, folders[_i].ending);
    ck_assert_msg(n >= folders[_i].at_least, "%s: %d graphs", folder, n);
}
END_TEST

SUITE(graphml_write)
{
    data = getenv("MOIRAI_DATA");
    EACH(a_graph_is_written_as_it_should_be, COUNT(writings));
    SOME(a_random_graph_is_read_back_equal, 500, 20);
    SOME(the_same_graph_is_the_same_bytes, 500, 20);
    SOME(many_different_values_are_read_back_equal, 1, 0);
    if (data)
        SOME(a_real_graph_is_read_back_equal, COUNT(folders), 2);
}
