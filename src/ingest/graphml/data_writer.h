/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_writer.h - writer of the <data> elements of nodes, or of edges.
 */
#ifndef MO_INGEST_GRAPHML_DATA_WRITER_H
#define MO_INGEST_GRAPHML_DATA_WRITER_H

#include <stdint.h>

#include "base/out.h"
#include "graph/graph.h"
#include "ingest/graphml/schema.h"

/* A set of a role's attributes: a bit for each, by index. */
typedef unsigned mo_graphml_attribute_set;

/* An attribute that is written. */
typedef struct mo_graphml_field {
    int index;      /* among its role's attributes */
    const char *id; /* of its key */
    const char *name;
    mo_graphml_kind kind;
    size_t offset;
    uint64_t absent; /* the bits of an absent value */
} mo_graphml_field;

/* Cache of texts: large graphs repeat their layers, so the text of a node or
 * an edge is kept in a place that is a hash of its values, and copied when
 * they recur. (Equal texts of a graph are the same pointer.) */
typedef struct mo_graphml_cached_text {
    uint64_t values[MO_GRAPHML_MAX_ATTRIBUTES]; /* bits, or texts' addresses */
    size_t length;                              /* 0: none yet */
    char text[1000];
} mo_graphml_cached_text;

typedef struct mo_graphml_data_writer {
    const mo_graph *g;
    mo_graphml_role role;
    mo_graphml_field fields[MO_GRAPHML_MAX_ATTRIBUTES];
    int n_fields;
    mo_graphml_cached_text
        *passages; /* NULL without memory for them: then nothing is cached */
} mo_graphml_data_writer;

/* init selects the attributes in wanted; begin allocates the cache, which the
 * caller frees with mo_graphml_data_writer_clear(). */
void mo_graphml_data_writer_init(mo_graphml_data_writer *data,
                                 const mo_graph *g, mo_graphml_role role,
                                 mo_graphml_attribute_set wanted);
void mo_graphml_data_writer_begin(mo_graphml_data_writer *data);
void mo_graphml_data_writer_clear(mo_graphml_data_writer *data);

/* Removes those attributes that base, an op or a mo_graphml_edge, has; returns
 * the removed ones. */
mo_graphml_attribute_set
mo_graphml_data_writer_drop(mo_graphml_data_writer *data, const void *base);

/* Writes a <key> for each. */
void mo_graphml_data_writer_declare(const mo_graphml_data_writer *data,
                                    mo_out *out);

/* Writes a <data> for each that base has. */
void mo_graphml_data_writer_write(const mo_graphml_data_writer *data,
                                  const void *base, mo_out *out);

#endif
