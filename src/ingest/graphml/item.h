/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item.h - the node or edge that the GraphML reader is in.
 *
 * Its <data> come in any order and under several names; they are collected
 * until it ends. Missing values come from the keys' defaults.
 */
#ifndef MO_INGEST_GRAPHML_ITEM_H
#define MO_INGEST_GRAPHML_ITEM_H

#include <stddef.h>

#include "base/error.h"
#include "graph/build.h"
#include "ingest/graphml/schema.h"
#include "ingest/graphml/key.h"

/* State of the parser of values. */
typedef struct mo_graphml_values {
    mo_builder *builder; /* owns the texts */
    char *scratch;
    size_t scratch_room;
    const char *problem; /* why the last value was refused, with a remedy: "is
                            not a number; write ..." */
} mo_graphml_values;

/* A text with a reused buffer. */
typedef struct mo_graphml_name {
    char *text;
    size_t length, room;
} mo_graphml_name;

/* Rank of the name that set each attribute; MO_GRAPHML_UNSET when none did. */
enum { MO_GRAPHML_UNSET = 255 };
typedef unsigned char mo_graphml_ranks[MO_GRAPHML_MAX_ATTRIBUTES];

typedef struct mo_graphml_item {
    mo_graphml_role role;
    mo_graphml_name names[2]; /* a node's id, or an edge's two ends */
    int line;
    mo_graphml_node node;
    mo_graphml_edge edge;
    mo_measure *measures;
    size_t n_measures, measures_room;

    mo_graphml_ranks ranks;
    size_t serial;                      /* counts items */
    size_t *measured[MO_GRAPHML_ROLES]; /* by column: the serial of the item
                                           that has it */
    size_t n_measured[MO_GRAPHML_ROLES], measured_room[MO_GRAPHML_ROLES];

    mo_graphml_node default_node;
    mo_graphml_edge default_edge;
    mo_graphml_ranks default_ranks[MO_GRAPHML_ROLES];
    mo_graphml_values values;
} mo_graphml_item;

void mo_graphml_item_init(mo_graphml_item *item, mo_builder *builder);
void mo_graphml_item_clear(mo_graphml_item *item);

/* Parses the text of a <default>; meaning must have an attribute. */
mo_status mo_graphml_item_default(mo_graphml_item *item, mo_graphml_role role,
                                  const mo_graphml_meaning *meaning,
                                  const char *text, size_t length,
                                  mo_error *err);

/* Begins a node or an edge with the defaults only. */
void mo_graphml_item_begin(mo_graphml_item *item, mo_graphml_role role,
                           int line);

mo_status mo_graphml_item_name(mo_graphml_item *item, int which,
                               const char *text, size_t length, mo_error *err);

/* Parses the text of a <data>; meaning must have an attribute. A value given
 * under a better name is kept; the same name twice is an error. */
mo_status mo_graphml_item_set(mo_graphml_item *item,
                              const mo_graphml_meaning *meaning,
                              const char *text, size_t length, int line,
                              mo_error *err);

#endif
