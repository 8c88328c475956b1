/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - the <key> elements of a GraphML file: the meaning of its <data>.
 *
 * A key is found by its id, which is arbitrary, and has the meaning of its
 * attr.name.
 */
#ifndef MO_INGEST_GRAPHML_KEY_H
#define MO_INGEST_GRAPHML_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "graph/build.h"
#include "ingest/graphml/schema.h"
#include "ingest/xml.h"

/* The meaning of a key for nodes, or for edges. */
typedef struct mo_graphml_meaning {
    const char *name;    /* the attr.name; "" when it has none */
    int attribute;       /* in mo_graphml_attributes_of; -1: unknown, ignored */
    int rank;            /* see mo_graphml_find */
    int column;          /* of a measurement */
    int line;            /* where it was declared for the role; 0: it was not */
    bool none_is_absent; /* igraph writes an absent text as None */
} mo_graphml_meaning;

typedef struct mo_graphml_key {
    const char *id;
    mo_graphml_meaning meanings[MO_GRAPHML_ROLES];
} mo_graphml_key;

typedef struct mo_graphml_keys {
    mo_arena *arena;
    mo_intern *ids;
    mo_graphml_key *items;
    size_t count, room;
} mo_graphml_keys;

mo_status mo_graphml_keys_init(mo_graphml_keys *keys, mo_error *err);
void mo_graphml_keys_clear(mo_graphml_keys *keys);

/*
 * Adds the <key> of element. An id may be declared once for nodes and once for
 * edges, and again with the same name (networkx does so for each type that an
 * attribute's values have); anything else is an error. *key is valid until the
 * next is added; *roles is the set of roles of this declaration.
 */
mo_status mo_graphml_key_declare(mo_graphml_keys *keys,
                                 const mo_xml_element *element,
                                 mo_builder *builder, mo_graphml_key **key,
                                 bool roles[MO_GRAPHML_ROLES], mo_error *err);

/* Returns the key of an id, owned by keys; NULL when there is none. */
const mo_graphml_key *mo_graphml_key_find(const mo_graphml_keys *keys,
                                          const char *id, size_t length);

#endif
