/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphml_text.h - GraphML documents without their boilerplate.
 *
 *     GRAPHML(KEY("d0", "node", "op"), NODE("a", DATA("d0", "conv")))
 */
#ifndef MO_TESTS_SUPPORT_GRAPHML_TEXT_H
#define MO_TESTS_SUPPORT_GRAPHML_TEXT_H

#define GRAPHML(keys, content)                                                 \
    "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>" keys             \
    "<graph edgedefault='directed'>" content "</graph></graphml>"

#define KEY(id, role, name)                                                    \
    "<key id='" id "' for='" role "' attr.name='" name "' "                    \
    "attr.type='string'/>"
#define DEFAULT(id, role, name, value)                                         \
    "<key id='" id "' for='" role "' attr.name='" name                         \
    "' attr.type='string'><default>" value "</default></key>"

#define NODE(id, content) "<node id='" id "'>" content "</node>"
#define EDGE(from, to, content)                                                \
    "<edge source='" from "' target='" to "'>" content "</edge>"
#define DATA(key, text) "<data key='" key "'>" text "</data>"

/* A document of one op with one attribute. */
#define OP_WITH(name, text)                                                    \
    GRAPHML(KEY("k", "node", name), NODE("a", DATA("k", text)))

/* A document of one edge with one attribute, or with more of them. */
#define EDGE_WITH(name, text)                                                  \
    GRAPHML(KEY("k", "edge", name),                                            \
            NODE("a", "") NODE("b", "") EDGE("a", "b", DATA("k", text)))
#define EDGES(keys, content) GRAPHML(keys, NODE("a", "") NODE("b", "") content)

#endif
