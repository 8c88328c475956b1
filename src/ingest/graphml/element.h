/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h - GraphML reader: state, and the actions of each element.
 *
 * The elements that are read:
 *
 *     graphml ─┬─ key ── default
 *              └─ graph ─┬─ node ─┬─ data
 *                        │        └─ graph ...    then the node is a group
 *                        └─ edge ── data
 *
 * read.c walks through the document and skips all others.
 */
#ifndef MO_INGEST_GRAPHML_ELEMENT_H
#define MO_INGEST_GRAPHML_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/intern.h"
#include "graph/build.h"
#include "ingest/graphml/item.h"
#include "ingest/graphml/key.h"
#include "ingest/xml.h"

typedef enum mo_graphml_state {
    MO_GRAPHML_AT_TOP,
    MO_GRAPHML_IN_GRAPHML,
    MO_GRAPHML_IN_KEY,
    MO_GRAPHML_IN_DEFAULT,
    MO_GRAPHML_IN_GRAPH,
    MO_GRAPHML_IN_NODE,
    MO_GRAPHML_IN_NODE_DATA,
    MO_GRAPHML_IN_GROUP,
    MO_GRAPHML_IN_EDGE,
    MO_GRAPHML_IN_EDGE_DATA
} mo_graphml_state;

typedef struct mo_graphml_reader mo_graphml_reader;

/* An element that is allowed in a place, and the actions at its start and
 * end. */
typedef struct mo_graphml_transition {
    mo_graphml_state parent;
    const char *name;
    mo_graphml_state child;
    mo_status (*start)(mo_graphml_reader *r, const mo_xml_element *element,
                       mo_error *err);
    mo_status (*end)(mo_graphml_reader *r, const char *text, size_t length,
                     mo_error *err); /* or NULL */
} mo_graphml_transition;

/* An element that is open. */
typedef struct mo_graphml_level {
    const mo_graphml_transition *rule;
    mo_graphml_state place;
    bool undirected; /* of a graph: how its edges are by default */
} mo_graphml_level;

struct mo_graphml_reader {
    mo_xml *xml;
    mo_builder *builder;
    mo_graphml_keys keys;
    mo_graphml_item item;
    mo_intern *groups; /* names of nodes that are groups */
    int *group_lines;
    size_t n_groups, groups_room;

    mo_graphml_level open[MO_XML_MAX_DEPTH + 1];
    int depth;       /* open[depth] is the innermost */
    int skipped;     /* depth inside a skipped element; 0: none */
    int label_depth; /* where in there a label began; 0: nowhere */

    const char *space; /* the namespace of the root, which is ours */
    bool has_graph;
    mo_graphml_key *declared; /* the current <key>, and the roles it is for */
    bool declared_for[MO_GRAPHML_ROLES];
    const mo_graphml_meaning *meaning; /* of the current <data>, or NULL */
    int data_line;
};

/* Returns the transition for an element of that name in the reader's current
 * place, or NULL. Its start is called with the reader still in the parent, but
 * open[depth + 1] set. */
const mo_graphml_transition *
mo_graphml_find_transition(const mo_graphml_reader *r, const char *name);

/* At the end: fails when an op or an edge has a group's name. */
mo_status mo_graphml_check_groups(const mo_graphml_reader *r, mo_error *err);

#endif
