/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/graphml.h: dialects of other programs. */
#include "ingest/graphml.h"

#include <string.h>

#include "tests/support/fp_emulated.h"
#include "tests/support/graphml_text.h"
#include "tests/support/suite.h"
#include "tests/support/graph_text.h"

/* As the programs write them, but shortened. */
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
      "<key id='g' for='node'/>" KEY("l", "node", "label") "<graph>" NODE(
          "a", DATA("g", "<y:NodeLabel>drawn</y:NodeLabel>")
                   DATA("l", "told")) "</graph></graphml>",
      "a name=told" },
    /* Groups in groups, and a group's own data. */
    { GRAPHML(KEY("k", "node", "memory"),
              NODE("g", DATA("k", "1") "<graph>" NODE(
                            "h", "<graph>" NODE("a", "") "</graph><graph>" NODE(
                                     "b", "") "</graph>" DATA("k", "x"))
                            EDGE("a", "b", "") "</graph>")),
      "a | b; a->b" },
};

START_TEST(a_dialect_is_read_as_its_graph)
{
    const char *document = dialects[_i].document;
    mo_graph *g;

    MUST(mo_graphml_read_memory("g", document, strlen(document), NULL, &g,
                                &err));
    if (!is_miscalculated())
        ck_assert_str_eq(graph_to_text(g), dialects[_i].graph);
    mo_graph_free(g);
}
END_TEST

SUITE(graphml_dialects)
{
    EACH(a_dialect_is_read_as_its_graph, COUNT(dialects));
}
