/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/graph_info.h: exact output in all three formats. */
#include "report/graph_info.h"

#include <string.h>

#include "base/json.h"
#include "ingest/graphml.h"
#include "tests/support/suite.h"

/* A diamond; one branch with a name that needs care everywhere, the other
 * without a type. */
static const char diamond[] =
    "<graphml><key id='o' for='node' attr.name='op'/>"
    "<key id='f' for='node' attr.name='flops'/>"
    "<key id='t' for='node' attr.name='bytes'/>"
    "<key id='m' for='node' attr.name='memory'/>"
    "<key id='w' for='node' attr.name='weight_bytes'/>"
    "<key id='b' for='edge' attr.name='bytes'/>"
    "<graph id='four'>"
    "<node id='a'><data key='o'>Relax</data><data key='f'>10</data>"
    "<data key='t'>4</data></node>"
    "<node id='b'><data key='m'>3000</data></node>"
    "<node id='c&quot;\\&#10;&lt;'><data key='o'>Con&#9;v</data>"
    "<data key='f'>2500000</data><data key='w'>1024</data></node>"
    "<node id='d'><data key='o'>Relax</data><data key='f'>10</data>"
    "<data key='t'>8</data></node>"
    "<edge source='a' target='b'><data key='b'>100</data></edge>"
    "<edge source='a' target='c&quot;\\&#10;&lt;'/>"
    "<edge source='b' target='d'/>"
    "<edge source='c&quot;\\&#10;&lt;' target='d'>"
    "<data key='b'>2048</data></edge>"
    "</graph></graphml>";

static const char empty[] = "<graphml><graph/></graphml>";

static const char as_text[] = "graph       four.graphml\n"
                              "format      graphml\n"
                              "digest      00000000000000ff\n"
                              "ops         4\n"
                              "constants   0\n"
                              "edges       4\n"
                              "tensors     3\n"
                              "sources     1\n"
                              "sinks       1\n"
                              "components  1\n"
                              "depth       3\n"
                              "width       2\n"
                              "clean cuts  2, at most 2 ops between\n"
                              "weights     1.00 KiB\n"
                              "memory      3.93 KiB\n"
                              "tensor size 2.10 KiB\n"
                              "flops       2.50 MFLOP, known for 3 of 4 ops\n"
                              "traffic     12 B\n"
                              "\n"
                              "heaviest ops by flops\n"
                              "  2.50 MFLOP  Con\\tv               c\"\\\\n<\n"
                              "     10 FLOP  Relax                d\n"
                              "     10 FLOP  Relax                a\n"
                              "\n"
                              "operators\n"
                              "           2  Relax\n"
                              "           1  -\n"
                              "           1  Con\\tv\n";

static const char as_json[] =
    "{\n"
    "  \"graph\": \"four.graphml\",\n"
    "  \"format\": \"graphml\",\n"
    "  \"digest\": \"00000000000000ff\",\n"
    "  \"ops\": 4,\n"
    "  \"constants\": 0,\n"
    "  \"edges\": 4,\n"
    "  \"tensors\": 3,\n"
    "  \"sources\": 1,\n"
    "  \"sinks\": 1,\n"
    "  \"components\": 1,\n"
    "  \"depth\": 3,\n"
    "  \"width\": 2,\n"
    "  \"clean_cuts\": 2,\n"
    "  \"largest_segment\": 2,\n"
    "  \"weight_bytes\": 1024,\n"
    "  \"memory_bytes\": 4024,\n"
    "  \"tensor_bytes\": 2148,\n"
    "  \"flops\": 2500020,\n"
    "  \"bytes\": 12,\n"
    "  \"ops_without_flops\": 1,\n"
    "  \"heaviest_by\": \"flops\",\n"
    "  \"heaviest\": [\n"
    "    {\"op\": \"c\\\"\\\\\\n<\", \"type\": \"Con\\tv\", "
    "\"flops\": 2500000, \"bytes\": null},\n"
    "    {\"op\": \"d\", \"type\": \"Relax\", \"flops\": 10, \"bytes\": 8},\n"
    "    {\"op\": \"a\", \"type\": \"Relax\", \"flops\": 10, \"bytes\": 4}\n"
    "  ],\n"
    "  \"operators\": {\n"
    "    \"Relax\": 2,\n"
    "    \"\": 1,\n"
    "    \"Con\\tv\": 1\n"
    "  }\n"
    "}\n";

static const char as_dot[] =
    "digraph \"four\" {\n"
    "  node [shape=box];\n"
    "  \"a\" [label=\"a\\nRelax\", style=filled, fillcolor=gold];\n"
    "  \"b\" [label=\"b\"];\n"
    "  \"c\\\"\\\\\\n<\" [label=\"c\\\"\\\\\\n<\\nCon\\\\x09v\"];\n"
    "  \"d\" [label=\"d\\nRelax\", style=filled, fillcolor=gold];\n"
    "  \"a\" -> \"b\" [label=\"100 B\"];\n"
    "  \"a\" -> \"c\\\"\\\\\\n<\";\n"
    "  \"b\" -> \"d\";\n"
    "  \"c\\\"\\\\\\n<\" -> \"d\" [label=\"2.00 KiB\"];\n"
    "}\n";

enum { TEXT, JSON, DOT };

/* The description of an XML text in one form; the caller frees it. */
static char *describe(const char *xml, int form)
{
    mo_report_graph d = { .file = "four.graphml",
                          .format = "graphml",
                          .digest = 0xff };
    mo_summary summary;
    mo_graph *g;
    mo_out *out;
    size_t size;
    char *text;

    MUST(mo_graphml_read_memory("x", xml, strlen(xml), NULL, &g, &err));
    MUST(mo_summary_make(g, &summary, &err));
    MUST(mo_out_memory(&out, &err));
    d.graph = g;
    d.summary = &summary;
    if (form == TEXT)
        MUST(mo_report_graph_text(&d, out, &err));
    else if (form == JSON)
        MUST(mo_report_graph_json(&d, out, &err));
    else
        MUST(mo_report_graph_dot(&d, out, &err));
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    mo_summary_clear(&summary);
    mo_graph_free(g);
    ck_assert_ptr_nonnull(text);
    return text;
}

static const struct {
    int form;
    const char *text;
} forms[] = { { TEXT, as_text }, { JSON, as_json }, { DOT, as_dot } };

START_TEST(each_form_is_written_letter_by_letter)
{
    char *text = describe(diamond, forms[_i].form);

    ck_assert_str_eq(text, forms[_i].text);
    free(text);
}
END_TEST

START_TEST(json_is_json_even_of_nothing)
{
    char *full = describe(diamond, JSON), *bare = describe(empty, JSON);

    ck_assert(mo_json_is_object(full, strlen(full)));
    ck_assert(mo_json_is_object(bare, strlen(bare)));
    ck_assert_ptr_nonnull(strstr(bare, "\"heaviest_by\": null"));
    ck_assert_ptr_nonnull(strstr(bare, "\"heaviest\": []"));
    ck_assert_ptr_nonnull(strstr(bare, "\"operators\": {}"));
    free(bare);
    free(full);
}
END_TEST

START_TEST(an_empty_graph_has_no_lists_in_text)
{
    char *text = describe(empty, TEXT);

    ck_assert_ptr_nonnull(strstr(text, "ops         0\n"));
    ck_assert_ptr_nonnull(strstr(text, "clean cuts  0\n"));
    ck_assert_ptr_nonnull(strstr(text, "weights     unknown\n"
                                       "memory      unknown\n"
                                       "tensor size unknown\n"
                                       "flops       unknown\n"
                                       "traffic     unknown\n"));
    ck_assert_ptr_null(strstr(text, "heaviest"));
    ck_assert_ptr_null(strstr(text, "operators"));
    free(text);
}
END_TEST

START_TEST(a_graph_without_a_name_is_called_by_its_file)
{
    char *text = describe(empty, DOT);

    ck_assert_str_eq(text, "digraph \"four.graphml\" {\n"
                           "  node [shape=box];\n}\n");
    free(text);
}
END_TEST

/* Times stand in for flops, and are labeled as such. */
START_TEST(heaviest_by_time_gives_the_time)
{
    static const char timed[] =
        "<graphml><key id='t' for='node' attr.name='time_us.gpu'/><graph>"
        "<node id='a'><data key='t'>1500.5</data></node></graph></graphml>";
    char *text = describe(timed, TEXT), *json = describe(timed, JSON);

    ck_assert_ptr_nonnull(
        strstr(text, "heaviest ops by measured time on the slowest device\n"
                     "     1.50 ms  -                    a\n"));
    ck_assert_ptr_nonnull(strstr(json, "\"heaviest_by\": \"time_us\""));
    ck_assert_ptr_nonnull(
        strstr(json, "{\"op\": \"a\", \"type\": null, \"flops\": null, "
                     "\"bytes\": null, \"time_us\": 1500.5}"));
    free(json);
    free(text);
}
END_TEST

SUITE(graph_info)
{
    EACH(each_form_is_written_letter_by_letter, COUNT(forms));
    TEST(json_is_json_even_of_nothing);
    TEST(an_empty_graph_has_no_lists_in_text);
    TEST(a_graph_without_a_name_is_called_by_its_file);
    TEST(heaviest_by_time_gives_the_time);
}
