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

#include "ingest/graphml.h"
#include "ingest/graphml/schema.h"
#include "ingest/graphml/data_writer.h"

/* The name of an op that needs no escaping, or NULL: edges refer to ops in any
 * order, and this array is all they read. */
typedef struct plain_name {
    const char *text;
    size_t length;
} plain_name;

typedef struct writer {
    const mo_graph *g;
    mo_out *out;
    mo_graphml_data_writer nodes, edges;
    mo_graphml_attribute_set used; /* of the edges' attributes */
    int producer;                  /* the producer of default_bytes, or -1 */
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

static mo_graphml_edge feed_attributes(writer *w, int f)
{
    mo_graphml_edge view = written_edge(w, &w->g->feeds[f]);

    view.src_port = w->g->feed_port[f];
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

static mo_graphml_attribute_set used_by_nodes(const mo_graph *g)
{
    mo_graphml_attribute_set memory = SET(MO_GRAPHML_MEMORY), used = 0;
    mo_graphml_data_writer unseen;

    mo_graphml_data_writer_init(&unseen, g, MO_GRAPHML_NODE,
                                FIELDS_OF_NODES & ~memory);
    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        used |= mo_graphml_data_writer_drop(&unseen, &g->ops[i]);
        if (!is_memory_a_sum(&g->ops[i]))
            used |= memory;
    }
    return used;
}

static mo_graphml_attribute_set attributes_of_edge(writer *w,
                                                   const mo_edge *edge)
{
    mo_graphml_attribute_set used = 0;

    if (edge->dst_port != MO_PORT_NONE)
        used |= SET(MO_GRAPHML_DST_PORT);
    if (edge->bytes != default_bytes(w, edge->from))
        used |= SET(MO_GRAPHML_BYTES);
    return used;
}

static mo_graphml_attribute_set used_by_edges(writer *w)
{
    const mo_graph *g = w->g;
    mo_graphml_attribute_set used = 0;

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
    mo_graphml_data_writer_declare(&w->nodes, w->out);
    if (g->n_constants > 0)
        LITERAL(w->out, "  <key id=\"constant\" for=\"node\" "
                        "attr.name=\"constant\" attr.type=\"boolean\"/>\n");
    declare_columns(w, 't', "node", "time_us.", g->time_columns,
                    g->n_time_columns);
    mo_graphml_data_writer_declare(&w->edges, w->out);
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
    mo_graphml_data_writer_write(&w->nodes, &g->ops[i], w->out);
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
    mo_graphml_data_writer_write(&w->edges, edge, w->out);
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

static void write_feed(writer *w, int f)
{
    mo_graphml_edge feed = feed_attributes(w, f);

    begin_edge(w, &feed);
    LITERAL(w->out, "</edge>\n");
}

void mo_graphml_write(const mo_graph *g, mo_out *out)
{
    size_t n_ops = (size_t) g->n_ops + (size_t) g->n_constants;
    writer w = { .g = g, .out = out, .producer = -1 };

    w.names = calloc(n_ops + 1, sizeof *w.names);
    w.used = used_by_edges(&w);
    mo_graphml_data_writer_init(&w.nodes, g, MO_GRAPHML_NODE, used_by_nodes(g));
    mo_graphml_data_writer_init(&w.edges, g, MO_GRAPHML_EDGE, w.used);
    mo_graphml_data_writer_begin(&w.nodes);
    mo_graphml_data_writer_begin(&w.edges);
    write_head(&w);
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        write_node(&w, i);
    for (int e = 0; e < g->n_edges; e++)
        write_edge(&w, e);
    for (int f = 0; f < g->n_feeds; f++)
        write_feed(&w, f);
    LITERAL(out, "  </graph>\n</graphml>\n");
    mo_graphml_data_writer_clear(&w.edges);
    mo_graphml_data_writer_clear(&w.nodes);
    free(w.names);
}
