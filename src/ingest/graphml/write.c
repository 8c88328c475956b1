/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of GraphML. A graph is written in the order of its ids; keys are
 * those of the schema, each declared only if it is used. Values that the
 * reader derives by itself are left out: memory where it always is the sum of
 * its parts, and the bytes of an edge where they are all that its producer
 * gives.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "graph/graph.h"
#include "ingest/graphml.h"
#include "ingest/graphml/schema.h"

/* Writer of the <data> elements of nodes, or of edges. */

/* A set of a role's attributes: a bit for each, by index. */
typedef unsigned attribute_set;

/* An attribute that is written. */
typedef struct field {
    int index;      /* among its role's attributes */
    const char *id; /* of its key */
    const char *name;
    mo_graphml_kind kind;
    size_t offset;
    uint64_t absent; /* the bits of an absent value */
} field;

/* Cache of texts: large graphs repeat their layers, so the text of a node or
 * an edge is kept in a place that is a hash of its values, and copied when
 * they recur. (Equal texts of a graph are the same pointer.) */
typedef struct cached_text {
    uint64_t values[MO_GRAPHML_MAX_ATTRIBUTES]; /* bits, or texts' addresses */
    size_t length;                              /* 0: none yet */
    char text[1000];
} cached_text;

typedef struct data_writer {
    const mo_graph *g;
    mo_graphml_role role;
    field fields[MO_GRAPHML_MAX_ATTRIBUTES];
    int n_fields;
    cached_text
        *passages; /* NULL without memory for them: then nothing is cached */
} data_writer;

enum { PASSAGES = 64 };

#define LITERAL(out, text) mo_out_bytes((out), (text), sizeof(text) - 1)

static bool is_text(mo_graphml_kind kind)
{
    return kind <= MO_GRAPHML_NAMES;
}

/* A value as 64 bits, which differ for different values of its kind. */
static uint64_t bits_of(mo_graphml_kind kind, const void *at)
{
    uint64_t bits;
    int port;

    if (is_text(kind))
        return (uintptr_t) * (const char *const *) at;
    if (kind == MO_GRAPHML_FLAG)
        return *(const bool *) at;
    if (kind == MO_GRAPHML_PORT) {
        memcpy(&port, at, sizeof port);
        return (uint64_t) port;
    }
    memcpy(&bits, at, sizeof bits);
    return bits;
}

/* The bits of an absent value: NULL, MO_UNKNOWN, MO_PORT_NONE, false. */
static uint64_t absent_bits(mo_graphml_kind kind)
{
    static const double unknown_amount = MO_UNKNOWN;

    if (is_text(kind) || kind == MO_GRAPHML_FLAG)
        return 0;
    if (kind == MO_GRAPHML_AMOUNT)
        return bits_of(kind, &unknown_amount);
    return UINT64_MAX;
}

/* init selects the attributes in wanted; begin allocates the cache, which the
 * caller frees with data_writer_clear(). */
static void data_writer_init(data_writer *data, const mo_graph *g,
                             mo_graphml_role role, attribute_set wanted)
{
    const mo_graphml_attribute *a = mo_graphml_attributes_of[role].items;

    *data = (data_writer){ .g = g, .role = role };
    for (int i = 0; wanted >> i; i++)
        if (wanted >> i & 1)
            data->fields[data->n_fields++] = (field){
                .index = i,
                /* A key's id is its name, but where nodes and edges have the
                 * same. */
                .id = role == MO_GRAPHML_EDGE && i == MO_GRAPHML_BYTES
                          ? "edge_bytes"
                          : a[i].names[0],
                .name = a[i].names[0],
                .kind = a[i].kind,
                .offset = a[i].offset,
                .absent = absent_bits(a[i].kind),
            };
}

static void data_writer_begin(data_writer *data)
{
    data->passages = calloc(PASSAGES, sizeof *data->passages);
}

static void data_writer_clear(data_writer *data)
{
    free(data->passages);
}

/* Removes those attributes that base, an op or a mo_graphml_edge, has; returns
 * the removed ones. */
static attribute_set data_writer_drop(data_writer *data, const void *base)
{
    attribute_set dropped = 0;

    for (int i = data->n_fields - 1; i >= 0; i--) {
        const field *f = &data->fields[i];

        if (bits_of(f->kind, (const char *) base + f->offset) == f->absent)
            continue;
        dropped |= 1u << f->index;
        data->fields[i] = data->fields[--data->n_fields];
    }
    return dropped;
}

static const char *type_name(const mo_graph *g, mo_graphml_kind kind)
{
    switch (kind) {
    case MO_GRAPHML_SIZE:
    case MO_GRAPHML_AMOUNT:
    case MO_GRAPHML_MEASURE:
        return "double";
    case MO_GRAPHML_FLAG:
        return "boolean";
    case MO_GRAPHML_PORT:
        return g->n_port_names > 0 ? "string" : "int";
    default:
        return "string";
    }
}

/* Writes a <key> for each. */
static void data_writer_declare(const data_writer *data, mo_out *out)
{
    for (int i = 0; i < data->n_fields; i++) {
        const field *f = &data->fields[i];

        mo_out_printf(out,
                      "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" "
                      "attr.type=\"%s\"/>\n",
                      f->id, data->role == MO_GRAPHML_NODE ? "node" : "edge",
                      f->name, type_name(data->g, f->kind));
    }
}

static void write_port(const mo_graph *g, int port, mo_out *out)
{
    if (port >= 0)
        mo_out_int(out, port);
    else
        mo_out_xml(out, g->port_names[-2 - port]);
}

static void write_value(const mo_graph *g, mo_graphml_kind kind, const void *at,
                        mo_out *out)
{
    switch (kind) {
    case MO_GRAPHML_TEXT:
    case MO_GRAPHML_SHAPE:
    case MO_GRAPHML_DTYPE:
    case MO_GRAPHML_JSON:
    case MO_GRAPHML_NAMES:
        mo_out_xml(out, *(const char *const *) at);
        break;
    case MO_GRAPHML_SIZE:
        mo_out_int(out, *(const int64_t *) at);
        break;
    case MO_GRAPHML_AMOUNT:
    case MO_GRAPHML_MEASURE:
        mo_out_double(out, *(const double *) at);
        break;
    case MO_GRAPHML_PORT:
        write_port(g, *(const int *) at, out);
        break;
    case MO_GRAPHML_FLAG:
        LITERAL(out, "true");
        break;
    }
}

/* True when all of it is sure to fit into the buffer in one piece. */
static bool fits_buffer(const data_writer *data, const void *base,
                        const mo_out *out)
{
    enum { MAX_VALUES = 1000, MAX_ESCAPE = 6, MAX_REST = 64 };
    size_t length = 0;

    if (out->end - out->at <
        MAX_VALUES * MAX_ESCAPE + MO_GRAPHML_MAX_ATTRIBUTES * MAX_REST)
        return false;
    for (int i = 0; i < data->n_fields; i++) {
        const field *f = &data->fields[i];
        const char *at = (const char *) base + f->offset;

        if (is_text(f->kind) && *(const char *const *) at)
            length += strnlen(*(const char *const *) at, MAX_VALUES);
    }
    return length < MAX_VALUES;
}

static void write_fields(const data_writer *data, const void *base, mo_out *out)
{
    for (int i = 0; i < data->n_fields; i++) {
        const field *f = &data->fields[i];
        const void *at = (const char *) base + f->offset;

        if (bits_of(f->kind, at) == f->absent)
            continue;
        LITERAL(out, "<data key=\"");
        mo_out_text(out, f->id);
        LITERAL(out, "\">");
        write_value(data->g, f->kind, at, out);
        LITERAL(out, "</data>");
    }
}

static void write_new(const data_writer *data, const void *base,
                      const uint64_t *values, cached_text *to, mo_out *out)
{
    bool in_one_piece = fits_buffer(data, base, out);
    const char *start = out->at;
    size_t length;

    write_fields(data, base, out);
    if (!in_one_piece)
        return;
    length = (size_t) (out->at - start);
    if (length == 0 || length > sizeof to->text)
        return;
    memcpy(to->text, start, length);
    memcpy(to->values, values, (size_t) data->n_fields * sizeof *values);
    to->length = length;
}

/* Collects the values of base and returns their place in the cache. */
static size_t read_values(const data_writer *data, const void *base,
                          uint64_t *values)
{
    uint64_t hash = 0;

    for (int i = 0; i < data->n_fields; i++) {
        const field *f = &data->fields[i];

        values[i] = bits_of(f->kind, (const char *) base + f->offset);
        hash = (hash ^ values[i]) * 0x9E3779B97F4A7C15;
    }
    return hash >> 58;
}

_Static_assert(PASSAGES == 1 << (64 - 58), "a place for each hash");

/* Writes a <data> for each that base has. */
static void data_writer_write(const data_writer *data, const void *base,
                              mo_out *out)
{
    uint64_t values[MO_GRAPHML_MAX_ATTRIBUTES];
    cached_text *known;

    if (!data->passages) {
        write_fields(data, base, out);
        return;
    }
    known = &data->passages[read_values(data, base, values)];
    if (known->length > 0 &&
        memcmp(known->values, values,
               (size_t) data->n_fields * sizeof *values) == 0)
        mo_out_bytes(out, known->text, known->length);
    else
        write_new(data, base, values, known, out);
}

/* The name of an op that needs no escaping, or NULL: edges refer to ops in any
 * order, and this array is all they read. */
typedef struct plain_name {
    const char *text;
    size_t length;
} plain_name;

typedef struct writer {
    const mo_graph *g;
    mo_out *out;
    data_writer nodes, edges;
    attribute_set used; /* of the edges' attributes */
    int producer;       /* the producer of default_bytes, or -1 */
    int64_t default_bytes;
    plain_name *names; /* NULL without memory for them */
} writer;

#define LITERAL(out, text) mo_out_bytes((out), (text), sizeof(text) - 1)

#define SET(attribute) (1u << (attribute))

/* All that are fields of an op; constants and columns are written
 * separately. */
enum {
    FIELDS_OF_NODES = (SET(MO_GRAPHML_CONSTANT) - 1) | SET(MO_GRAPHML_OUTPUT)
};

/* The attributes that select the output of an edge. */
enum { OUTPUT = SET(MO_GRAPHML_SRC_PORT) | SET(MO_GRAPHML_TENSOR) };

/* The bytes that a reader assumes for an edge without any. */
static int64_t default_bytes(writer *w, int producer)
{
    const mo_op *op = &w->g->ops[producer];
    bool has_many = false;

    if (w->producer != producer) {
        has_many = op->shape && strchr(op->shape, ';');
        w->default_bytes = has_many ? MO_UNKNOWN : op->output_bytes;
        w->producer = producer;
    }
    return w->default_bytes;
}

/* The attributes of an edge that are written. */
static mo_graphml_edge written_edge(writer *w, const mo_edge *edge)
{
    mo_graphml_edge view = {
        .from = edge->from,
        .to = edge->to,
        .src_port = MO_PORT_NONE,
        .dst_port = edge->dst_port,
        .bytes = MO_UNKNOWN,
    };

    if (w->used & SET(MO_GRAPHML_BYTES) &&
        edge->bytes != default_bytes(w, edge->from))
        view.bytes = edge->bytes;
    return view;
}

static mo_graphml_edge edge_attributes(writer *w, int e)
{
    const mo_edge *edge = &w->g->edges[e];
    mo_graphml_edge view = written_edge(w, edge);

    if (w->used & OUTPUT) {
        view.src_port = w->g->tensors[edge->tensor].port;
        view.tensor = w->g->tensors[edge->tensor].key;
    }
    return view;
}

static bool is_memory_a_sum(const mo_op *op)
{
    uint64_t sum = 0;

    /* Left out, the reader would sum the constants that the op reads. */
    if (op->memory_given && op->weight_bytes == MO_UNKNOWN)
        return false;
    if (op->weight_bytes != MO_UNKNOWN)
        sum += (uint64_t) op->weight_bytes;
    if (op->workspace_bytes != MO_UNKNOWN)
        sum += (uint64_t) op->workspace_bytes;
    return (uint64_t) op->memory_bytes == sum;
}

static attribute_set used_by_nodes(const mo_graph *g)
{
    attribute_set memory = SET(MO_GRAPHML_MEMORY), used = 0;
    data_writer unseen;

    data_writer_init(&unseen, g, MO_GRAPHML_NODE, FIELDS_OF_NODES & ~memory);
    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        used |= data_writer_drop(&unseen, &g->ops[i]);
        if (!is_memory_a_sum(&g->ops[i]))
            used |= memory;
    }
    return used;
}

static attribute_set attributes_of_edge(writer *w, const mo_edge *edge)
{
    attribute_set used = 0;

    if (edge->dst_port != MO_PORT_NONE)
        used |= SET(MO_GRAPHML_DST_PORT);
    if (edge->bytes != default_bytes(w, edge->from))
        used |= SET(MO_GRAPHML_BYTES);
    return used;
}

static attribute_set used_by_edges(writer *w)
{
    const mo_graph *g = w->g;
    attribute_set used = 0;

    for (int e = 0; e < g->n_edges; e++)
        used |= attributes_of_edge(w, &g->edges[e]);
    for (int f = 0; f < g->n_feeds; f++) {
        used |= attributes_of_edge(w, &g->feeds[f]);
        if (g->feed_port[f] != MO_PORT_NONE)
            used |= SET(MO_GRAPHML_SRC_PORT);
    }
    for (int t = 0; t < g->n_tensors; t++) {
        if (g->tensors[t].port != MO_PORT_NONE)
            used |= SET(MO_GRAPHML_SRC_PORT);
        if (g->tensors[t].key)
            used |= SET(MO_GRAPHML_TENSOR);
    }
    return used;
}

/* Columns have keys t0, t1, ... and c0, c1, ..., since their names may contain
 * characters that an id may not. */
static void declare_columns(const writer *w, char letter, const char *role,
                            const char *prefix,
                            const mo_measure_column *columns, int n)
{
    for (int c = 0; c < n; c++) {
        mo_out_printf(w->out, "  <key id=\"%c%d\" for=\"%s\" attr.name=\"%s",
                      letter, c, role, prefix);
        mo_out_xml(w->out, columns[c].key);
        LITERAL(w->out, "\" attr.type=\"double\"");
        if (isnan(columns[c].fallback_us)) {
            LITERAL(w->out, "/>\n");
        } else {
            LITERAL(w->out, "><default>");
            mo_out_double(w->out, columns[c].fallback_us);
            LITERAL(w->out, "</default></key>\n");
        }
    }
}

static void write_measures(const writer *w, char letter,
                           const mo_measure *measures, int from, int to)
{
    for (int i = from; i < to; i++) {
        LITERAL(w->out, "<data key=\"");
        mo_out_char(w->out, letter);
        mo_out_int(w->out, measures[i].column);
        LITERAL(w->out, "\">");
        mo_out_double(w->out, measures[i].us);
        LITERAL(w->out, "</data>");
    }
}

static void write_head(const writer *w)
{
    const mo_graph *g = w->g;

    LITERAL(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
                    "\n");
    data_writer_declare(&w->nodes, w->out);
    if (g->n_constants > 0)
        LITERAL(w->out, "  <key id=\"constant\" for=\"node\" "
                        "attr.name=\"constant\" attr.type=\"boolean\"/>\n");
    declare_columns(w, 't', "node", "time_us.", g->time_columns,
                    g->n_time_columns);
    data_writer_declare(&w->edges, w->out);
    declare_columns(w, 'c', "edge", "comm_us.", g->comm_columns,
                    g->n_comm_columns);
    LITERAL(w->out, "  <graph ");
    if (g->name) {
        LITERAL(w->out, "id=\"");
        mo_out_xml(w->out, g->name);
        LITERAL(w->out, "\" ");
    }
    LITERAL(w->out, "edgedefault=\"directed\">\n");
}

/* Writes a node's name and records whether it needed no escaping. */
static void write_id(const writer *w, int i)
{
    const char *name = w->g->ops[i].name, *start = w->out->at;
    size_t length = strlen(name);
    bool in_one_piece = (size_t) (w->out->end - start) / 8 > length;

    mo_out_xml(w->out, name);
    if (w->names && in_one_piece && (size_t) (w->out->at - start) == length)
        w->names[i] = (plain_name){ name, length };
}

static void write_end(const writer *w, int i)
{
    if (w->names && w->names[i].text)
        mo_out_bytes(w->out, w->names[i].text, w->names[i].length);
    else
        mo_out_xml(w->out, w->g->ops[i].name);
}

static void write_node(const writer *w, int i)
{
    const mo_graph *g = w->g;

    LITERAL(w->out, "    <node id=\"");
    write_id(w, i);
    LITERAL(w->out, "\">");
    data_writer_write(&w->nodes, &g->ops[i], w->out);
    if (i >= g->n_ops)
        LITERAL(w->out, "<data key=\"constant\">true</data>");
    if (g->n_time_columns > 0)
        write_measures(w, 't', g->times, g->time_start[i],
                       g->time_start[i + 1]);
    LITERAL(w->out, "</node>\n");
}

static void begin_edge(const writer *w, const mo_graphml_edge *edge)
{
    LITERAL(w->out, "    <edge source=\"");
    write_end(w, edge->from);
    LITERAL(w->out, "\" target=\"");
    write_end(w, edge->to);
    LITERAL(w->out, "\">");
    data_writer_write(&w->edges, edge, w->out);
}

static void write_edge(writer *w, int e)
{
    const mo_graph *g = w->g;
    mo_graphml_edge edge = edge_attributes(w, e);

    begin_edge(w, &edge);
    if (g->n_comm_columns > 0)
        write_measures(w, 'c', g->comms, g->comm_start[e],
                       g->comm_start[e + 1]);
    LITERAL(w->out, "</edge>\n");
}

void mo_graphml_write(const mo_graph *g, mo_out *out)
{
    size_t n_ops = (size_t) g->n_ops + (size_t) g->n_constants;
    writer w = { .g = g, .out = out, .producer = -1 };

    w.names = calloc(n_ops + 1, sizeof *w.names);
    w.used = used_by_edges(&w);
    data_writer_init(&w.nodes, g, MO_GRAPHML_NODE, used_by_nodes(g));
    data_writer_init(&w.edges, g, MO_GRAPHML_EDGE, w.used);
    data_writer_begin(&w.nodes);
    data_writer_begin(&w.edges);
    write_head(&w);
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        write_node(&w, i);
    for (int e = 0; e < g->n_edges; e++)
        write_edge(&w, e);
    for (int f = 0; f < g->n_feeds; f++) {
        mo_graphml_edge feed = written_edge(&w, &g->feeds[f]);

        feed.src_port = g->feed_port[f];
        begin_edge(&w, &feed);
        LITERAL(w.out, "</edge>\n");
    }
    LITERAL(out, "  </graph>\n</graphml>\n");
    data_writer_clear(&w.edges);
    data_writer_clear(&w.nodes);
    free(w.names);
}
