/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - attributes of nodes and edges in GraphML.
 *
 * One table for each role: the reader finds an attribute by any of its names,
 * the writer uses the first.
 */
#ifndef MO_INGEST_GRAPHML_SCHEMA_H
#define MO_INGEST_GRAPHML_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/build.h"
#include "graph/graph.h"

/* Syntax of a value, and its type in memory. */
typedef enum mo_graphml_kind {
    MO_GRAPHML_TEXT,   /* const char *                         */
    MO_GRAPHML_SHAPE,  /* const char *, as mo_shape_write      */
    MO_GRAPHML_DTYPE,  /* const char *, as mo_dtype_find       */
    MO_GRAPHML_JSON,   /* const char *, an object              */
    MO_GRAPHML_NAMES,  /* const char *, an array of texts      */
    MO_GRAPHML_SIZE,   /* int64_t, bytes                       */
    MO_GRAPHML_AMOUNT, /* double, not negative                 */
    MO_GRAPHML_PORT,   /* int, a number or mo_builder_port     */
    MO_GRAPHML_FLAG,   /* bool                                 */
    MO_GRAPHML_MEASURE /* double, in a column of its own       */
} mo_graphml_kind;

/* The fields of a node or an edge, collected until it ends. */
typedef struct mo_graphml_node {
    mo_op op;
    bool constant;
} mo_graphml_node;

typedef mo_builder_edge mo_graphml_edge;

typedef struct mo_graphml_attribute {
    /* The canonical name, then the aliases in use; of a MEASURE, the prefix of
     * a column's name. */
    const char *names[4];
    mo_graphml_kind kind;
    size_t offset; /* in mo_graphml_node or mo_graphml_edge */
} mo_graphml_attribute;

typedef enum mo_graphml_role {
    MO_GRAPHML_NODE,
    MO_GRAPHML_EDGE,
    MO_GRAPHML_ROLES
} mo_graphml_role;

/* Indices of attributes that the code refers to. */
enum {
    MO_GRAPHML_LABEL = 1, /* of nodes */
    MO_GRAPHML_MEMORY = 12,
    MO_GRAPHML_CONSTANT = 16,
    MO_GRAPHML_OUTPUT = 17,
    MO_GRAPHML_BYTES = 0, /* of edges */
    MO_GRAPHML_SRC_PORT = 1,
    MO_GRAPHML_DST_PORT = 2,
    MO_GRAPHML_TENSOR = 3,
    MO_GRAPHML_MAX_ATTRIBUTES = 19
};

typedef struct mo_graphml_attributes {
    const mo_graphml_attribute *items; /* in the order they are written; the
                                          last stands for all the columns */
    int count;
} mo_graphml_attributes;

extern const mo_graphml_attributes mo_graphml_attributes_of[MO_GRAPHML_ROLES];

/*
 * Returns the index of the attribute of that name among those of role, or -1.
 * *rank is the index of the name among its names: 0 is the canonical one.
 * Where a file gives several, the smallest counts.
 */
int mo_graphml_find(mo_graphml_role role, const char *name, int *rank);

#endif
