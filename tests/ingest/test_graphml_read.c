/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/graphml.h and moirai-graph(5): the reader. */
#include "ingest/graphml.h"

#include <string.h>

#include "tests/support/fp_emulated.h"
#include "tests/support/graphml_text.h"
#include "tests/support/suite.h"
#include "tests/support/graph_text.h"

static const struct {
    const char *document, *graph;
} readings[] = {
    /* Every attribute of a node, under each of its names. */
    { OP_WITH("op", "conv"), "a op=conv" },
    { OP_WITH("op_type", "conv"), "a op=conv" },
    { OP_WITH("type", "conv"), "a op=conv" },
    { OP_WITH("operator", "conv"), "a op=conv" },
    { OP_WITH("name", "first"), "a name=first" },
    { OP_WITH("label", "first"), "a name=first" },
    { OP_WITH("memory", "12"), "a memory=12" },
    { OP_WITH("mem", "12"), "a memory=12" },
    { OP_WITH("memory_bytes", "12"), "a memory=12" },
    { OP_WITH("weight_bytes", "8"), "a memory=8 weight=8" },
    { OP_WITH("workspace_bytes", "8"), "a memory=8 workspace=8" },
    { OP_WITH("flops", "1.5e9"), "a flops=1500000000" },
    { OP_WITH("bytes", "0.5"), "a bytes=0.5" },
    { OP_WITH("output_bytes", "4"), "a output=4" },
    { OP_WITH("shape", "1,64"), "a shape=1,64" },
    { OP_WITH("dtype", "f32"), "a dtype=f32" },
    { OP_WITH("attrs", "{\"k\": 1}"), "a attrs={\"k\": 1}" },
    { OP_WITH("weights", "w.bin:0:4:f32:1"), "a weights=w.bin:0:4:f32:1" },
    { OP_WITH("pin", "gpu0"), "a pin=gpu0" },
    { OP_WITH("colocate", "x"), "a colocate=x" },
    { OP_WITH("members", "[\"b\", \"c\"]"), "a members=[\"b\", \"c\"]" },
    { OP_WITH("output", "true"), "a leaves" },
    { OP_WITH("output", "0"), "a" },
    { OP_WITH("time_us.A", "2.5"), "a A=2.5" },
    { OP_WITH("time_us.RTX 2080 Ti", "2.5"), "a RTX 2080 Ti=2.5" },
    { OP_WITH("constant", "true"), "$a" },
    { OP_WITH("constant", "1"), "$a" },
    { OP_WITH("constant", "True"), "$a" },
    { OP_WITH("constant", "false"), "a" },
    { OP_WITH("op", "Constant"), "a op=Constant" },

    /* igraph writes absent texts as None. */
    { GRAPHML(KEY("v_op", "node", "op") KEY("v_d", "node", "dtype")
                  KEY("v_a", "node", "attrs") KEY("e_p", "edge", "dst_port"),
              NODE("a", DATA("v_op", "None") DATA("v_d", "None") DATA(
                            "v_a", "None")) NODE("b", DATA("v_op", "Nonesuch"))
                  EDGE("a", "b", DATA("e_p", "None"))),
      "a | b op=Nonesuch; a->b" },
    { OP_WITH("op", "None"), "a op=None" },

    /* Names are exact; unknown ones are ignored. */
    { OP_WITH("Memory", "twelve"), "a" },
    { OP_WITH("time_us", "twelve"), "a" },
    { OP_WITH("time_us.", "twelve"), "a" },
    { OP_WITH("comm_us.A.B", "twelve"), "a" },
    { OP_WITH("color", "#ff0000"), "a" },

    /* Values: sizes are exact, rounded to bytes, and shapes and types are
     * written one way. */
    { OP_WITH("memory", "9223372036854775807"),
      "a memory=9223372036854775807" },
    { OP_WITH("memory", "9007199254740993"), "a memory=9007199254740993" },
    { OP_WITH("memory", "1e3"), "a memory=1000" },
    { OP_WITH("memory", "2.5"), "a memory=3" },
    { OP_WITH("memory", "2.4"), "a memory=2" },
    { OP_WITH("memory", "\n 12 \t"), "a memory=12" },
    { OP_WITH("weight_bytes", "0"), "a weight=0" },
    { OP_WITH("op", " conv\n"), "a op=conv" },
    { OP_WITH("op", "a&lt;b&#33;<![CDATA[&]]>"), "a op=a<b!&" },
    { OP_WITH("op", ""), "a" },
    { OP_WITH("attrs", ""), "a" },
    { OP_WITH("members", " "), "a" },
    { OP_WITH("shape", ""), "a shape=" },
    { OP_WITH("shape", "[1, 64]"), "a shape=1,64" },
    { OP_WITH("shape", "1,64;(1, 32)"), "a shape=1,64;1,32" },
    { OP_WITH("shape", "1x3x224x224"), "a shape=1,3,224,224" },
    { OP_WITH("shape", "ellipse"), "a" },
    { OP_WITH("shape", "1,64;ellipse"), "a" },
    { OP_WITH("dtype", "torch.float32"), "a dtype=f32" },
    { OP_WITH("dtype", "FP16;int64"), "a dtype=f16;i64" },
    { OP_WITH("dtype", "mytype"), "a dtype=mytype" },

    /* The canonical name has priority over an alias, in any order. */
    { GRAPHML(KEY("x", "node", "type") KEY("y", "node", "op"),
              NODE("a", DATA("x", "alias") DATA("y", "ours"))),
      "a op=ours" },
    { GRAPHML(KEY("x", "node", "op") KEY("y", "node", "type"),
              NODE("a", DATA("x", "ours") DATA("y", "alias"))),
      "a op=ours" },
    { GRAPHML(KEY("x", "node", "operator") KEY("y", "node", "op_type"),
              NODE("a", DATA("x", "later") DATA("y", "sooner"))),
      "a op=sooner" },
    { GRAPHML(KEY("x", "node", "type") KEY("y", "node", "op"),
              NODE("a", DATA("x", "alias") DATA("y", ""))),
      "a op=alias" },
    { GRAPHML(KEY("w", "node", "weight_bytes") KEY(
                  "s", "node", "workspace_bytes") KEY("m", "node", "memory"),
              NODE("a", DATA("w", "1") DATA("s", "2"))
                  NODE("b", DATA("w", "1") DATA("s", "2") DATA("m", "7"))),
      "a memory=3 weight=1 workspace=2 | b memory=7 weight=1 workspace=2" },

    /* Keys: found by name, not by id; defaults; both roles at once. */
    { GRAPHML(KEY("memory", "node", "op"), NODE("a", DATA("memory", "conv"))),
      "a op=conv" },
    { GRAPHML(KEY("k", "all", "bytes"), NODE("a", DATA("k", "5")) NODE("b", "")
                                            EDGE("a", "b", DATA("k", "6"))),
      "a bytes=5 | b; a->b bytes=6" },
    { GRAPHML("<key id='k' attr.name='bytes'/>",
              NODE("a", DATA("k", "5")) NODE("b", "")
                  EDGE("a", "b", DATA("k", "6"))),
      "a bytes=5 | b; a->b bytes=6" },
    { GRAPHML(KEY("k", "node", "op") KEY("k", "edge", "bytes"),
              NODE("a", DATA("k", "conv")) NODE("b", "")
                  EDGE("a", "b", DATA("k", "6"))),
      "a op=conv | b; a->b bytes=6" },
    { GRAPHML(KEY("k", "node", "op") KEY("k", "node", "op"),
              NODE("a", DATA("k", "conv"))),
      "a op=conv" },
    { GRAPHML(DEFAULT("k", "node", "op", "conv"),
              NODE("a", "") NODE("b", DATA("k", "relu"))),
      "a op=conv | b op=relu" },
    { GRAPHML(DEFAULT("k", "node", "op", "conv") KEY("l", "node", "type"),
              NODE("a", DATA("l", "relu"))),
      "a op=relu" },
    { GRAPHML(DEFAULT("k", "node", "type", "x") DEFAULT("l", "node", "op", "y"),
              NODE("a", "")),
      "a op=y" },
    { GRAPHML(DEFAULT("k", "node", "time_us.A", "7"),
              NODE("a", "") NODE("b", DATA("k", "3"))),
      "a | b A=3; A=7" },
    { EDGES(DEFAULT("k", "edge", "bytes", "7"),
            EDGE("a", "b", "") EDGE("a", "b", DATA("k", "8"))),
      "a | b; a->b bytes=7 | a->b bytes=8" },
    { EDGES(DEFAULT("k", "edge", "comm_us.A.B", "7"), EDGE("a", "b", "")),
      "a | b; a->b; A.B=7" },
    { GRAPHML("<key id='k' for='node' attr.name='op'><desc>d</desc>"
              "<default>x</default></key>",
              NODE("a", "")),
      "a op=x" },

    /* Edges. */
    { EDGE_WITH("bytes", "6"), "a | b; a->b bytes=6" },
    { EDGE_WITH("tensor_bytes", "6"), "a | b; a->b bytes=6" },
    { EDGE_WITH("src_port", "1"), "a | b; a:1->b" },
    { EDGE_WITH("dst_port", "1"), "a | b; a->b:1" },
    { EDGE_WITH("dst_port", "1.0"), "a | b; a->b:1" },
    { EDGE_WITH("dst_port", "left"), "a | b; a->b:left" },
    { EDGE_WITH("dst_port", ""), "a | b; a->b" },
    { EDGE_WITH("tensor", "t"), "a | b; a->b tensor=t" },
    { EDGE_WITH("comm_us.A.B", "6.25"), "a | b; a->b A.B=6.25" },
    { EDGE_WITH("weight", "much"), "a | b; a->b" },
    { EDGES("", "<edge source='a' target='b' sourceport='2' "
                "targetport='in'/>"),
      "a | b; a:2->b:in" },
    { EDGES(KEY("k", "edge", "src_port"),
            "<edge source='a' target='b' sourceport='2'><data key='k'>3</data>"
            "</edge>"),
      "a | b; a:3->b" },
    { EDGES("", "<edge id='e0' source='a' target='b'/>"
                "<edge id='e0' source='a' target='b'/>"),
      "a | b; a->b | a->b" },
    { GRAPHML("", EDGE("a", "b", "") NODE("b", "") NODE("a", "")),
      "a | b; a->b" },
    { GRAPHML(KEY("k", "node", "output_bytes"),
              NODE("a", DATA("k", "9")) NODE("b", "") EDGE("a", "b", "")),
      "a output=9 | b; a->b bytes=9" },
    { GRAPHML(KEY("k", "node", "constant"),
              NODE("w", DATA("k", "true")) NODE("a", "") EDGE("w", "a", "")),
      "a | $w; w->a" },
    { EDGES("", "<edge source='a' target='b' directed='true'/>"),
      "a | b; a->b" },

    /* The document around them. */
    { "<graphml><graph edgedefault='directed'><node id='a'/></graph></graphml>",
      "a" },
    { "<graphml><graph><node id='a'/></graph></graphml>", "a" },
    { "<g:graphml xmlns:g='http://graphml.graphdrawing.org/xmlns'>"
      "<g:graph><g:node id='a'/></g:graph></g:graphml>",
      "a" },
    { "<graphml><graph edgedefault='undirected'><node id='a'/></graph>"
      "</graphml>",
      "a" },
    { "<graphml><graph edgedefault='undirected'><node id='a'/><node id='b'/>"
      "<edge source='a' target='b' directed='true'/></graph></graphml>",
      "a | b; a->b" },
    { GRAPHML("", ""), "" },
    { GRAPHML("<desc>x</desc><x:y xmlns:x='u'><graph/></x:y>",
              "<desc>d</desc><data key='none'>x</data><locator/>"
              "<x:node xmlns:x='u' id='x'><node id='z'/></x:node>" NODE(
                  "a", "<desc/><port name='in'><data key='none'/></port>")),
      "a" },
    { GRAPHML(KEY("k", "graph", "op"), NODE("a", DATA("k", "x"))), "a" },
    { GRAPHML("", NODE("&lt;a b&gt;&#10;\xc3\xbc", "")), "<a b>\n\xc3\xbc" },
};

START_TEST(a_document_is_read_as_its_graph)
{
    const char *document = readings[_i].document;
    mo_graph *g;

    MUST(mo_graphml_read_memory("g", document, strlen(document), NULL, &g,
                                &err));
    if (!is_miscalculated())
        ck_assert_str_eq(graph_to_text(g), readings[_i].graph);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_graph_is_called_by_its_id)
{
    static const char document[] =
        "<graphml><graph id='net &amp; co'/></graphml>";
    mo_graph *g;

    MUST(mo_graphml_read_memory("g", document, strlen(document), NULL, &g,
                                &err));
    ck_assert_str_eq(g->name, "net & co");
    mo_graph_free(g);
}
END_TEST

SUITE(graphml_read)
{
    EACH(a_document_is_read_as_its_graph, COUNT(readings));
    TEST(a_graph_is_called_by_its_id);
}
