/*
 * graphml_text.h - GraphML documents without their boilerplate.
 *
 *     GRAPHML(KEY("d0", "node", "op"), NODE("a", DATA("d0", "conv")))
 */
#ifndef MO_TESTS_GRAPHML_TEXT_H
#define MO_TESTS_GRAPHML_TEXT_H

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

#endif
