/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/graphml.h: errors. */
#include "ingest/graphml.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/graphml_text.h"
#include "tests/support/suite.h"

/* The op or edge with the attribute is on line 2. */
#define BAD_OP(name, text)                                                     \
    GRAPHML(KEY("k", "node", name) "\n", NODE("a", DATA("k", text)))
#define BAD_EDGE(name, text)                                                   \
    GRAPHML(KEY("k", "edge", name) "\n",                                       \
            NODE("a", "") NODE("b", "") EDGE("a", "b", DATA("k", text)))

static const struct {
    const char *document, *error;
} errors[] = {
    { BAD_OP("memory", "abc"),
      "g:2: node 'a': memory 'abc' is not a number; write a decimal one" },
    { BAD_OP("memory", ""), "g:2: node 'a': memory '' is not a number" },
    { BAD_OP("memory", "  "), "g:2: node 'a': memory '  ' is not a number" },
    { BAD_OP("memory", "12 kB"), "g:2: node 'a': memory '12 kB' is not a" },
    { BAD_OP("memory", "0x10"), "g:2: node 'a': memory '0x10' is not a" },
    { BAD_OP("memory", "1,5"), "g:2: node 'a': memory '1,5' is not a number" },
    { BAD_OP("mem", "-5"),
      "g:2: node 'a': mem '-5' is negative; write 0 or more, or leave it out" },
    { BAD_OP("memory", "nan"),
      "g:2: node 'a': memory 'nan' is not a finite number; write one" },
    { BAD_OP("memory", "inf"), "g:2: node 'a': memory 'inf' is not a finite" },
    { BAD_OP("memory", "1e400"), "g:2: node 'a': memory '1e400' is not a" },
    { BAD_OP("memory", "9223372036854775808"),
      "g:2: node 'a': memory '9223372036854775808' is more than 2^63 bytes; "
      "write a smaller size" },
    { BAD_OP("memory", "1e30"), "g:2: node 'a': memory '1e30' is more than" },
    { BAD_OP("flops", "NaN"), "g:2: node 'a': flops 'NaN' is not a finite" },
    { BAD_OP("flops", "-1"), "g:2: node 'a': flops '-1' is negative" },
    { BAD_OP("time_us.A", "-1"), "g:2: node 'a': time_us.A '-1' is negative" },
    { BAD_OP("time_us.A", "x"), "g:2: node 'a': time_us.A 'x' is not a" },
    { BAD_OP("constant", "maybe"),
      "g:2: node 'a': constant 'maybe' is neither true nor false" },
    { BAD_OP("output", "relu"),
      "g:2: node 'a': output 'relu' is neither true nor false" },
    { BAD_OP("members", "b, c"),
      "g:2: node 'a': members 'b, c' is not a JSON array of names; write one "
      "such as [\"conv1\", \"relu1\"]" },
    { BAD_OP("members", "[]"), "g:2: node 'a': members '[]' is not a JSON" },
    { BAD_OP("members", "[1]"), "g:2: node 'a': members '[1]' is not a JSON" },
    { BAD_OP("attrs", "[1]"),
      "g:2: node 'a': attrs '[1]' is not a JSON object; write one such as" },
    { BAD_OP("shape", "1,-1"),
      "g:2: node 'a': shape '1,-1' has a dimension without a size" },
    { BAD_OP("shape", "1,64;?,3"),
      "g:2: node 'a': shape '1,64;?,3' has a dimension without a size" },
    { BAD_OP("shape", "99999999999999999999"),
      "g:2: node 'a': shape '99999999999999999999' has too many dimensions or "
      "elements" },
    { BAD_EDGE("bytes", "-5"), "g:2: edge 'a' -> 'b': bytes '-5' is negative" },
    { BAD_EDGE("comm_us.A.B", "x"),
      "g:2: edge 'a' -> 'b': comm_us.A.B 'x' is not a number" },
    { BAD_EDGE("dst_port", "-1"),
      "g:2: edge 'a' -> 'b': dst_port '-1' is no port; write a whole number "
      "from 0, or a name" },
    { BAD_EDGE("src_port", "1.5"),
      "g:2: edge 'a' -> 'b': src_port '1.5' is no" },
    { EDGES("\n", "<edge source='a' target='b' sourceport='-2'/>"),
      "g:2: edge 'a' -> 'b': sourceport '-2' is no port" },
    { GRAPHML("\n" DEFAULT("k", "node", "memory", "-1"), NODE("a", "")),
      "g:2: the default of a key: memory '-1' is negative" },
    { GRAPHML("\n" DEFAULT("k", "node", "time_us.A", "x"), NODE("a", "")),
      "g:2: the default of a key: time_us.A 'x' is not a number" },
    { GRAPHML(
          DEFAULT("k", "node", "op", "x") "\n" DEFAULT("l", "node", "op", "y"),
          NODE("a", "")),
      "g:2: the default of a key: op 'y' is given twice" },

    { GRAPHML(KEY("k", "node", "op"),
              NODE("a", DATA("k", "x") "\n" DATA("k", "y"))),
      "g:2: node 'a': op 'y' is given twice; keep one of them" },
    { GRAPHML(KEY("k", "node", "time_us.A") KEY("l", "node", "time_us.A"),
              NODE("a", DATA("k", "1") "\n" DATA("l", "1"))),
      "g:2: node 'a': time_us.A '1' is given twice; keep one of them" },
    { EDGES(KEY("k", "edge", "bytes"),
            EDGE("a", "b", DATA("k", "1") "\n" DATA("k", "1"))),
      "g:2: edge 'a' -> 'b': bytes '1' is given twice; keep one of them" },

    { GRAPHML("", "\n" NODE("a", DATA("none", "x"))),
      "g:2: no <key> has the id 'none'; declare it before the <graph>" },
    { GRAPHML("", "\n" NODE("a", "<data>x</data>")),
      "g:2: a <data> names no key; give it the id of one" },
    { GRAPHML("\n<key for='node' attr.name='op'/>", ""),
      "g:2: a <key> has no id; give it one" },
    { GRAPHML(KEY("k", "node", "op") "\n" KEY("k", "all", "name"), ""),
      "g:2: key 'k' is declared twice for nodes, first on line 1" },
    { GRAPHML(KEY("k", "edge", "bytes"), "\n" NODE("a", DATA("k", "1"))),
      "g:2: key 'k' (bytes) is declared for edges only, but a node has it; "
      "declare it for=\"all\"" },
    { EDGES(KEY("k", "node", "bytes"), "\n" EDGE("a", "b", DATA("k", "1"))),
      "g:2: key 'k' (bytes) is declared for nodes only, but an edge has it" },
    { "<graphml><graph/>\n" KEY("k", "node", "op") "</graphml>",
      "g:2: a <key> stands behind the <graph>; declare all keys before it" },

    { GRAPHML("", "\n<node/>"), "g:2: a <node> has no id; give it one" },
    { GRAPHML("", "\n<node id=''/>"), "g:2: a <node> has no id" },
    { GRAPHML("", NODE("a", "") "\n" NODE("a", "")),
      "g:2: op 'a' is defined twice, first on line 1" },
    { EDGES("", "\n<edge target='b'/>"), "g:2: an <edge> has no source; give" },
    { EDGES("", "\n<edge source='a'/>"), "g:2: an <edge> has no target; give" },
    { EDGES("", "\n" EDGE("a", "c", "")), "g:2: " },
    { GRAPHML("", NODE("a", "") "\n" EDGE("a", "a", "")), "g:2: " },
    { EDGES("", "\n" EDGE("a", "b", "") EDGE("b", "a", "")), "g:2: " },
    { EDGES("", "\n<edge source='a' target='b' directed='false'/>"),
      "g:2: edge 'a' -> 'b' is undirected; write a directed graph" },
    { "<graphml><graph edgedefault='undirected'>" NODE("a", "")
          NODE("b", "") "\n" EDGE("a", "b", "") "</graph></graphml>",
      "g:2: edge 'a' -> 'b' is undirected; write a directed graph" },
    { EDGES("", "\n<hyperedge><endpoint node='a'/></hyperedge>"),
      "g:2: a <hyperedge> here is not supported; write edges between two" },
    { EDGES("", "\n" EDGE("a", "b", "<graph/>")),
      "g:2: a <graph> here is not supported" },
    { "<graphml><graph/>\n<graph/></graphml>",
      "g:2: a second <graph>; write each graph to a file of its own" },
    { EDGES("", NODE("g", "<graph/>") "\n" EDGE("a", "g", "")),
      "g:2: node 'g' is a group (there is a <graph> in it), but an edge ends "
      "at it; draw the edge to one of the ops in it" },
    { EDGES("", "\n" EDGE("a", "g", "") "\n" NODE("g", "<graph/>")),
      "g:2: node 'g' is a group" },
    { EDGES("", NODE("g", "<graph/>") "\n" NODE("g", "")),
      "g:2: node 'g' is defined twice, first on line 1; give one of them" },
    { EDGES("", NODE("g", "") "\n" NODE("g", "<graph/>")),
      "g:2: node 'g' is defined twice, first on line 1" },
    { EDGES("", NODE("g", "<graph/>") "\n" NODE("g", "<graph/>")),
      "g:2: node 'g' is defined twice, first on line 1" },
    { "<graphml/>", "g: there is no <graph> in it; write one" },
    { "<x/>", "g:1: the root element is <x>, not <graphml>" },
};

START_TEST(what_is_wrong_is_told_with_its_line)
{
    const char *document = errors[_i].document;
    mo_graph *g = NULL;
    mo_error err = { 0 };
    char text[2000];
    mo_status status =
        mo_graphml_read_memory("g", document, strlen(document), NULL, &g, &err);

    mo_error_format(&err, text, sizeof text);
    ck_assert_msg(status == MO_E_INPUT || status == MO_E_SUPPORT,
                  "status %d: %s", status, text);
    ck_assert_int_eq(status, err.status);
    ck_assert_msg(strncmp(text, errors[_i].error, strlen(errors[_i].error)) ==
                      0,
                  "'%s' is not '%s'", text, errors[_i].error);
    ck_assert_ptr_null(g);
}
END_TEST

/* Long names and values are cut at whole characters, so that the remedy is
 * not. */
START_TEST(errors_stay_readable_whatever_the_names)
{
    char value[500], document[2000], text[2000];
    mo_graph *g = NULL;
    mo_error err = { 0 };

    for (size_t i = 0; i < sizeof value - 1; i += 2)
        memcpy(value + i, "\xc3\xbc", 2);
    value[498] = '\0';
    snprintf(document, sizeof document,
             "<graphml>" KEY(
                 "k", "node",
                 "memory") "<graph><node id='%s'>"
                           "<data key='k'>%s</data></node></graph></graphml>",
             value, value);
    ck_assert_int_eq(
        mo_graphml_read_memory("g", document, strlen(document), NULL, &g, &err),
        MO_E_INPUT);
    mo_error_format(&err, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "write a decimal one such as 1.5e9"));
    ck_assert_ptr_null(strstr(text, "\\x"));
}
END_TEST

SUITE(graphml_errors)
{
    EACH(what_is_wrong_is_told_with_its_line, COUNT(errors));
    TEST(errors_stay_readable_whatever_the_names);
}
