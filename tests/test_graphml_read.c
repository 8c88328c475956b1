/* Claims of ingest/graphml.h and moirai-graph(5) on what is read. */
#include "ingest/graphml.h"

#include <stdio.h>
#include <string.h>

#include "tests/emulated.h"
#include "tests/graphml_text.h"
#include "tests/suite.h"
#include "tests/tell.h"

/* A document of one op with one attribute. */
#define OP_WITH(name, text)                                                   \
    GRAPHML(KEY("k", "node", name), NODE("a", DATA("k", text)))

/* A document of one edge with one attribute, or with more of them. */
#define EDGE_WITH(name, text)                                                 \
    GRAPHML(KEY("k", "edge", name),                                           \
            NODE("a", "") NODE("b", "") EDGE("a", "b", DATA("k", text)))
#define EDGES(keys, content)                                                  \
    GRAPHML(keys, NODE("a", "") NODE("b", "") content)

static const struct {
    const char *document, *graph;
} readings[] = {
    /* Every attribute of a node, under every name it goes by. */
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

    /* igraph writes texts that are not there as None. */
    { GRAPHML(KEY("v_op", "node", "op") KEY("v_d", "node", "dtype")
              KEY("v_a", "node", "attrs") KEY("e_p", "edge", "dst_port"),
              NODE("a", DATA("v_op", "None") DATA("v_d", "None")
                   DATA("v_a", "None"))
              NODE("b", DATA("v_op", "Nonesuch"))
              EDGE("a", "b", DATA("e_p", "None"))),
      "a | b op=Nonesuch; a->b" },
    { OP_WITH("op", "None"), "a op=None" },

    /* Names are exact; what nobody knows is nobody's business. */
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

    /* Our own name counts before an alias, wherever it stands. */
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
    { GRAPHML(KEY("w", "node", "weight_bytes") KEY("s", "node",
              "workspace_bytes") KEY("m", "node", "memory"),
              NODE("a", DATA("w", "1") DATA("s", "2"))
              NODE("b", DATA("w", "1") DATA("s", "2") DATA("m", "7"))),
      "a memory=3 weight=1 workspace=2 | b memory=7 weight=1 workspace=2" },

    /* Keys: found by name, not by id; defaults; both roles at once. */
    { GRAPHML(KEY("memory", "node", "op"), NODE("a", DATA("memory", "conv"))),
      "a op=conv" },
    { GRAPHML(KEY("k", "all", "bytes"), NODE("a", DATA("k", "5"))
              NODE("b", "") EDGE("a", "b", DATA("k", "6"))),
      "a bytes=5 | b; a->b bytes=6" },
    { GRAPHML("<key id='k' attr.name='bytes'/>", NODE("a", DATA("k", "5"))
              NODE("b", "") EDGE("a", "b", DATA("k", "6"))),
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
              "<default>x</default></key>", NODE("a", "")),
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
      "</graphml>", "a" },
    { "<graphml><graph edgedefault='undirected'><node id='a'/><node id='b'/>"
      "<edge source='a' target='b' directed='true'/></graph></graphml>",
      "a | b; a->b" },
    { GRAPHML("", ""), "" },
    { GRAPHML("<desc>x</desc><x:y xmlns:x='u'><graph/></x:y>",
              "<desc>d</desc><data key='none'>x</data><locator/>"
              "<x:node xmlns:x='u' id='x'><node id='z'/></x:node>"
              NODE("a", "<desc/><port name='in'><data key='none'/></port>")),
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
        ck_assert_str_eq(tell(g), readings[_i].graph);
    mo_graph_free(g);
}
END_TEST

/* As the programs write them, but for the length. */
static const struct {
    const char *document, *graph;
} dialects[] = {
    /* networkx: one key for each type that an attribute's values have. */
    { "<?xml version='1.0' encoding='utf-8'?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi="
      "\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation="
      "\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/"
      "xmlns/1.0/graphml.xsd\">\n"
      "  <key id=\"d3\" for=\"edge\" attr.name=\"bytes\" "
      "attr.type=\"long\" />\n"
      "  <key id=\"d2\" for=\"node\" attr.name=\"memory\" "
      "attr.type=\"double\" />\n"
      "  <key id=\"d1\" for=\"node\" attr.name=\"memory\" "
      "attr.type=\"long\" />\n"
      "  <key id=\"d0\" for=\"node\" attr.name=\"op\" attr.type=\"string\" />\n"
      "  <graph edgedefault=\"directed\">\n"
      "    <node id=\"conv1\">\n"
      "      <data key=\"d0\">conv</data>\n"
      "      <data key=\"d1\">100</data>\n"
      "    </node>\n"
      "    <node id=\"relu1\">\n"
      "      <data key=\"d2\">2.5</data>\n"
      "    </node>\n"
      "    <edge source=\"conv1\" target=\"relu1\" id=\"0\">\n"
      "      <data key=\"d3\">4</data>\n"
      "    </edge>\n"
      "    <edge source=\"conv1\" target=\"relu1\" id=\"1\" />\n"
      "  </graph>\n"
      "</graphml>\n",
      "conv1 op=conv memory=100 | relu1 memory=3; "
      "conv1->relu1 | conv1->relu1 bytes=4" },
    /* igraph: v_ and e_ ids, every vertex has every attribute. */
    { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "<!-- Created by igraph 0.10.10 -->\n"
      "  <key id=\"g_name\" for=\"graph\" attr.name=\"name\" "
      "attr.type=\"string\"/>\n"
      "  <key id=\"v_name\" for=\"node\" attr.name=\"name\" "
      "attr.type=\"string\"/>\n"
      "  <key id=\"v_pin\" for=\"node\" attr.name=\"pin\" "
      "attr.type=\"string\"/>\n"
      "  <key id=\"e_bytes\" for=\"edge\" attr.name=\"bytes\" "
      "attr.type=\"double\"/>\n"
      "  <graph id=\"G\" edgedefault=\"directed\">\n"
      "    <data key=\"g_name\">net</data>\n"
      "    <node id=\"n0\">\n"
      "      <data key=\"v_name\">conv1</data>\n"
      "      <data key=\"v_pin\"></data>\n"
      "    </node>\n"
      "    <node id=\"n1\">\n"
      "      <data key=\"v_name\">relu1</data>\n"
      "      <data key=\"v_pin\">A</data>\n"
      "    </node>\n"
      "    <edge source=\"n0\" target=\"n1\">\n"
      "      <data key=\"e_bytes\">4</data>\n"
      "    </edge>\n"
      "  </graph>\n"
      "</graphml>\n",
      "n0 name=conv1 | n1 name=relu1 pin=A; n0->n1 bytes=4" },
    /* yEd: labels in the drawing, groups as nested graphs, edges in any. */
    { "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
      "xmlns:y=\"http://www.yworks.com/xml/graphml\">\n"
      "  <!--Created by yEd 3.23-->\n"
      "  <key attr.name=\"Description\" attr.type=\"string\" for=\"graph\" "
      "id=\"d0\"/>\n"
      "  <key for=\"port\" id=\"d1\" yfiles.type=\"portgraphics\"/>\n"
      "  <key for=\"node\" id=\"d6\" yfiles.type=\"nodegraphics\"/>\n"
      "  <key for=\"graphml\" id=\"d7\" yfiles.type=\"resources\"/>\n"
      "  <key for=\"edge\" id=\"d10\" yfiles.type=\"edgegraphics\"/>\n"
      "  <graph edgedefault=\"directed\" id=\"G\">\n"
      "    <data key=\"d0\" xml:space=\"preserve\"/>\n"
      "    <node id=\"n0\">\n"
      "      <data key=\"d6\">\n"
      "        <y:ShapeNode>\n"
      "          <y:Geometry height=\"30.0\" width=\"30.0\"/>\n"
      "          <y:NodeLabel alignment=\"center\">conv1<y:LabelModel>\n"
      "            <y:SmartNodeLabelModel distance=\"4.0\"/></y:LabelModel>\n"
      "          </y:NodeLabel>\n"
      "          <y:NodeLabel>second</y:NodeLabel>\n"
      "          <y:Shape type=\"rectangle\"/>\n"
      "        </y:ShapeNode>\n"
      "      </data>\n"
      "    </node>\n"
      "    <node id=\"n1\" yfiles.foldertype=\"group\">\n"
      "      <data key=\"d6\"><y:ProxyAutoBoundsNode><y:Realizers><y:GroupNode>"
      "<y:NodeLabel>Group</y:NodeLabel></y:GroupNode></y:Realizers>"
      "</y:ProxyAutoBoundsNode></data>\n"
      "      <graph edgedefault=\"directed\" id=\"n1:\">\n"
      "        <node id=\"n1::n0\"><data key=\"d6\"><y:ShapeNode><y:NodeLabel>"
      "relu</y:NodeLabel></y:ShapeNode></data></node>\n"
      "        <node id=\"n1::n1\"/>\n"
      "        <edge id=\"n1::e0\" source=\"n1::n0\" target=\"n1::n1\"/>\n"
      "      </graph>\n"
      "    </node>\n"
      "    <edge id=\"e0\" source=\"n0\" target=\"n1::n0\">\n"
      "      <data key=\"d10\"><y:PolyLineEdge><y:EdgeLabel>x</y:EdgeLabel>"
      "</y:PolyLineEdge></data>\n"
      "    </edge>\n"
      "  </graph>\n"
      "  <data key=\"d7\"><y:Resources/></data>\n"
      "</graphml>\n",
      "n0 name=conv1 | n1::n0 name=relu | n1::n1; n0->n1::n0 | "
      "n1::n0->n1::n1" },
    /* A label of the file's own counts before the drawing's. */
    { "<graphml xmlns:y='http://www.yworks.com/xml/graphml'>"
      "<key id='g' for='node'/>" KEY("l", "node", "label") "<graph>"
      NODE("a", DATA("g", "<y:NodeLabel>drawn</y:NodeLabel>")
                DATA("l", "told")) "</graph></graphml>",
      "a name=told" },
    /* Groups in groups, and a group's own data. */
    { GRAPHML(KEY("k", "node", "memory"),
              NODE("g", DATA("k", "1") "<graph>" NODE("h",
                   "<graph>" NODE("a", "") "</graph><graph>" NODE("b", "")
                   "</graph>" DATA("k", "x")) EDGE("a", "b", "") "</graph>")),
      "a | b; a->b" },
};

START_TEST(a_dialect_is_read_as_its_graph)
{
    const char *document = dialects[_i].document;
    mo_graph *g;

    MUST(mo_graphml_read_memory("g", document, strlen(document), NULL, &g,
                                &err));
    if (!is_miscalculated())
        ck_assert_str_eq(tell(g), dialects[_i].graph);
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

/* The op or edge with the attribute stands on line 2. */
#define BAD_OP(name, text)                                                    \
    GRAPHML(KEY("k", "node", name) "\n", NODE("a", DATA("k", text)))
#define BAD_EDGE(name, text)                                                  \
    GRAPHML(KEY("k", "edge", name) "\n",                                      \
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
    { GRAPHML(DEFAULT("k", "node", "op", "x") "\n"
              DEFAULT("l", "node", "op", "y"), NODE("a", "")),
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
    { "<graphml><graph edgedefault='undirected'>" NODE("a", "") NODE("b", "")
      "\n" EDGE("a", "b", "") "</graph></graphml>",
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
    mo_status status = mo_graphml_read_memory("g", document, strlen(document),
                                              NULL, &g, &err);

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

/* Long names and values are cut at whole characters, so the advice stays. */
START_TEST(errors_stay_readable_whatever_the_names)
{
    char value[500], document[2000], text[2000];
    mo_graph *g = NULL;
    mo_error err = { 0 };

    for (size_t i = 0; i < sizeof value - 1; i += 2)
        memcpy(value + i, "\xc3\xbc", 2);
    value[498] = '\0';
    snprintf(document, sizeof document,
             "<graphml>" KEY("k", "node", "memory") "<graph><node id='%s'>"
             "<data key='k'>%s</data></node></graph></graphml>", value, value);
    ck_assert_int_eq(mo_graphml_read_memory("g", document, strlen(document),
                                            NULL, &g, &err),
                     MO_E_INPUT);
    mo_error_format(&err, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "write a decimal one such as 1.5e9"));
    ck_assert_ptr_null(strstr(text, "\\x"));
}
END_TEST

SUITE(graphml_read)
{
    EACH(a_document_is_read_as_its_graph, COUNT(readings));
    EACH(a_dialect_is_read_as_its_graph, COUNT(dialects));
    TEST(a_graph_is_called_by_its_id);
    EACH(what_is_wrong_is_told_with_its_line, COUNT(errors));
    TEST(errors_stay_readable_whatever_the_names);
}
