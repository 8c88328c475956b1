/*
 * graphml_data.h - the <data> of nodes, or of edges, as they are written.
 *
 * Private to graphml_*.c.
 */
#ifndef MO_INGEST_GRAPHML_DATA_H
#define MO_INGEST_GRAPHML_DATA_H

#include <stdint.h>

#include "base/out.h"
#include "graph/graph.h"
#include "ingest/graphml_attribute.h"

/* Some of a role's attributes: a bit for each, by index. */
typedef unsigned mo_graphml_set;

/*
 * Large graphs say the same over and over: every <data> is remembered as it was
 * written, in a place that depends on its value, and copied when the value
 * comes again.  (Equal texts of a graph are the same pointer.)
 */
enum { MO_GRAPHML_PHRASES = 64, MO_GRAPHML_PHRASE_SIZE = 256 };

typedef struct mo_graphml_phrases {
    uint64_t
        values[MO_GRAPHML_PHRASES];     /* numbers' bits, or texts' addresses */
    size_t lengths[MO_GRAPHML_PHRASES]; /* 0: none yet */
    char texts[MO_GRAPHML_PHRASES][MO_GRAPHML_PHRASE_SIZE];
} mo_graphml_phrases;

/* An attribute that is written. */
typedef struct mo_graphml_field {
    const char *id; /* of its key */
    const char *name;
    mo_graphml_kind kind;
    size_t offset;
    uint64_t absent;             /* the bits of a value that is not there */
    mo_graphml_phrases *phrases; /* NULL when there is no memory for them */
} mo_graphml_field;

typedef struct mo_graphml_data {
    const mo_graph *g;
    mo_graphml_role role;
    mo_graphml_field fields[MO_GRAPHML_MAX_ATTRIBUTES];
    int n_fields;
} mo_graphml_data;

/* Takes those of unseen that base, a node or an edge, has out of it. */
void mo_graphml_data_note(mo_graphml_role role, const void *base,
                          mo_graphml_set *unseen);

/* Prepares for writing the attributes in used. */
void mo_graphml_data_init(mo_graphml_data *data, const mo_graph *g,
                          mo_graphml_role role, mo_graphml_set used);
void mo_graphml_data_clear(mo_graphml_data *data);

/* Writes a <key> for each, and a <data> for each that base has. */
void mo_graphml_data_declare(const mo_graphml_data *data, mo_out *out);
void mo_graphml_data_write(const mo_graphml_data *data, const void *base,
                           mo_out *out);

#endif
