/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphml_data.h - the <data> of nodes, or of edges, as they are written.
 *
 * Private to graphml_*.c.
 */
#ifndef MO_INGEST_GRAPHML_DATA_WRITER_H
#define MO_INGEST_GRAPHML_DATA_WRITER_H

#include <stdint.h>

#include "base/out.h"
#include "graph/graph.h"
#include "ingest/graphml/schema.h"

/* Some of a role's attributes: a bit for each, by index. */
typedef unsigned mo_graphml_attribute_set;

/* An attribute that is written. */
typedef struct mo_graphml_field {
    int index;      /* among its role's attributes */
    const char *id; /* of its key */
    const char *name;
    mo_graphml_kind kind;
    size_t offset;
    uint64_t absent; /* the bits of a value that is not there */
} mo_graphml_field;

/* Large graphs repeat their layers: what was written of a node or an edge is
 * remembered, in a place that depends on its values, and copied when they come
 * again.  (Equal texts of a graph are the same pointer.) */
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
        *passages; /* NULL when there is no memory for them */
} mo_graphml_data_writer;

/* Prepares for the attributes in wanted, which are fields of what is written;
 * then for writing them. */
void mo_graphml_data_writer_init(mo_graphml_data_writer *data,
                                 const mo_graph *g, mo_graphml_role role,
                                 mo_graphml_attribute_set wanted);
void mo_graphml_data_writer_begin(mo_graphml_data_writer *data);
void mo_graphml_data_writer_clear(mo_graphml_data_writer *data);

/* Drops the fields that base, an op or a mo_graphml_edge, has; returns them. */
mo_graphml_attribute_set
mo_graphml_data_writer_drop(mo_graphml_data_writer *data, const void *base);

/* Writes a <key> for each. */
void mo_graphml_data_writer_declare(const mo_graphml_data_writer *data,
                                    mo_out *out);

/* Writes a <data> for each that base has. */
void mo_graphml_data_writer_write(const mo_graphml_data_writer *data,
                                  const void *base, mo_out *out);

#endif
