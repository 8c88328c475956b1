#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ingest/graphml.h"
#include "ingest/graphml_attribute.h"

/*
 * A graph is written in the order of its ids, which is its own; keys are those
 * of the attribute tables, each declared only if it is used.  What the reader
 * fills in by itself is left out.
 */

/* "<data key=\"op\">": the same a million times, so it is made once. */
typedef struct opening {
    char text[48];
    size_t length;
} opening;

typedef struct writer {
    const mo_graph *g;
    mo_out *out;
    opening openings[MO_GRAPHML_ROLES][MO_GRAPHML_MAX_ATTRIBUTES];
} writer;

#define LITERAL(out, text) mo_out_bytes((out), (text), sizeof(text) - 1)

static const void *field_at(const void *base,
                            const mo_graphml_attribute *attribute)
{
    return (const char *) base + attribute->offset;
}

static bool is_given(mo_graphml_kind kind, const void *at)
{
    switch (kind) {
    case MO_GRAPHML_TEXT:
    case MO_GRAPHML_SHAPE:
    case MO_GRAPHML_DTYPE:
    case MO_GRAPHML_JSON:
        return *(const char *const *) at != NULL;
    case MO_GRAPHML_SIZE:
        return *(const int64_t *) at != MO_UNKNOWN;
    case MO_GRAPHML_AMOUNT:
        return *(const double *) at >= 0;
    case MO_GRAPHML_FLAG:
        return *(const bool *) at;
    case MO_GRAPHML_PORT:
        return *(const int *) at != MO_PORT_NONE;
    case MO_GRAPHML_MEASURE:
        break;
    }
    return false;
}

static void write_port(const writer *w, int port)
{
    if (port >= 0)
        mo_out_int(w->out, port);
    else
        mo_out_xml(w->out, w->g->port_names[-2 - port]);
}

static void write_value(const writer *w, mo_graphml_kind kind, const void *at)
{
    switch (kind) {
    case MO_GRAPHML_TEXT:
    case MO_GRAPHML_SHAPE:
    case MO_GRAPHML_DTYPE:
    case MO_GRAPHML_JSON:
        mo_out_xml(w->out, *(const char *const *) at);
        break;
    case MO_GRAPHML_SIZE:
        mo_out_int(w->out, *(const int64_t *) at);
        break;
    case MO_GRAPHML_AMOUNT:
    case MO_GRAPHML_MEASURE:
        mo_out_double(w->out, *(const double *) at);
        break;
    case MO_GRAPHML_FLAG:
        LITERAL(w->out, "true");
        break;
    case MO_GRAPHML_PORT:
        write_port(w, *(const int *) at);
        break;
    }
}

static void write_data(const writer *w, mo_graphml_role role, const void *base)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];

    for (int i = 0; i < all->count; i++) {
        const mo_graphml_attribute *attribute = &all->items[i];
        const void *at = field_at(base, attribute);

        if (!is_given(attribute->kind, at))
            continue;
        mo_out_bytes(w->out, w->openings[role][i].text,
                     w->openings[role][i].length);
        write_value(w, attribute->kind, at);
        LITERAL(w->out, "</data>");
    }
}

/* Columns have keys t0, t1, ... and c0, c1, ..., since their names may hold
 * what an id may not. */
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

/* What is written of op i: memory only where it is not the sum of its parts. */
static mo_graphml_node node_of(const mo_graph *g, int i)
{
    mo_graphml_node node = { g->ops[i], i >= g->n_ops };
    mo_op *op = &node.op;
    uint64_t parts = 0;

    if (op->weight_bytes != MO_UNKNOWN)
        parts += (uint64_t) op->weight_bytes;
    if (op->workspace_bytes != MO_UNKNOWN)
        parts += (uint64_t) op->workspace_bytes;
    if ((uint64_t) op->memory_bytes == parts)
        op->memory_bytes = MO_UNKNOWN;
    return node;
}

/* What is written of an edge: bytes only where they are not those of its
 * producer's one output. */
static mo_graphml_edge view_of(const mo_graph *g, const mo_edge *edge)
{
    const mo_op *producer = &g->ops[edge->from];
    mo_graphml_edge view = {
        .from = edge->from,
        .to = edge->to,
        .src_port = MO_PORT_NONE,
        .dst_port = edge->dst_port,
        .bytes = edge->bytes,
    };

    if (edge->bytes == producer->output_bytes &&
        (!producer->shape || !strchr(producer->shape, ';')))
        view.bytes = MO_UNKNOWN;
    return view;
}

static mo_graphml_edge edge_of(const mo_graph *g, int e)
{
    const mo_tensor *tensor = &g->tensors[g->edges[e].tensor];
    mo_graphml_edge view = view_of(g, &g->edges[e]);

    view.src_port = tensor->port;
    view.tensor = tensor->key;
    return view;
}

static mo_graphml_edge feed_of(const mo_graph *g, int f)
{
    mo_graphml_edge view = view_of(g, &g->feeds[f]);

    view.src_port = g->feed_port[f];
    return view;
}

static void write_node(const writer *w, int i)
{
    const mo_graph *g = w->g;
    mo_graphml_node node = node_of(g, i);

    LITERAL(w->out, "    <node id=\"");
    mo_out_xml(w->out, node.op.name);
    LITERAL(w->out, "\">");
    write_data(w, MO_GRAPHML_NODE, &node);
    if (g->n_time_columns > 0)
        write_measures(w, 't', g->times, g->time_start[i],
                       g->time_start[i + 1]);
    LITERAL(w->out, "</node>\n");
}

static void begin_edge(const writer *w, const mo_graphml_edge *edge)
{
    LITERAL(w->out, "    <edge source=\"");
    mo_out_xml(w->out, w->g->ops[edge->from].name);
    LITERAL(w->out, "\" target=\"");
    mo_out_xml(w->out, w->g->ops[edge->to].name);
    LITERAL(w->out, "\">");
    write_data(w, MO_GRAPHML_EDGE, edge);
}

static void write_edge(const writer *w, int e)
{
    const mo_graph *g = w->g;
    mo_graphml_edge edge = edge_of(g, e);

    begin_edge(w, &edge);
    if (g->n_comm_columns > 0)
        write_measures(w, 'c', g->comms, g->comm_start[e],
                       g->comm_start[e + 1]);
    LITERAL(w->out, "</edge>\n");
}

static void write_feed(const writer *w, int f)
{
    mo_graphml_edge feed = feed_of(w->g, f);

    begin_edge(w, &feed);
    LITERAL(w->out, "</edge>\n");
}

static void note_used(mo_graphml_role role, const void *base, bool *used)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];

    for (int i = 0; i < all->count; i++)
        used[i] |= is_given(all->items[i].kind,
                            field_at(base, &all->items[i]));
}

static void find_used(const mo_graph *g,
                      bool used[MO_GRAPHML_ROLES][MO_GRAPHML_MAX_ATTRIBUTES])
{
    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        mo_graphml_node node = node_of(g, i);

        note_used(MO_GRAPHML_NODE, &node, used[MO_GRAPHML_NODE]);
    }
    for (int e = 0; e < g->n_edges; e++) {
        mo_graphml_edge edge = edge_of(g, e);

        note_used(MO_GRAPHML_EDGE, &edge, used[MO_GRAPHML_EDGE]);
    }
    for (int f = 0; f < g->n_feeds; f++) {
        mo_graphml_edge feed = feed_of(g, f);

        note_used(MO_GRAPHML_EDGE, &feed, used[MO_GRAPHML_EDGE]);
    }
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

/* A key's id is its name, but where nodes and edges have the same. */
static const char *key_id(mo_graphml_role role, int index)
{
    if (role == MO_GRAPHML_EDGE && index == MO_GRAPHML_BYTES)
        return "edge_bytes";
    return mo_graphml_attributes_of[role].items[index].names[0];
}

static void write_keys(const writer *w, mo_graphml_role role, const bool *used)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];

    for (int i = 0; i < all->count; i++)
        if (used[i])
            mo_out_printf(w->out,
                          "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" "
                          "attr.type=\"%s\"/>\n",
                          key_id(role, i),
                          role == MO_GRAPHML_NODE ? "node" : "edge",
                          all->items[i].names[0],
                          type_name(w->g, all->items[i].kind));
}

static void write_columns(const writer *w, char letter, const char *role,
                          const char *prefix, const mo_column *columns, int n)
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

static void write_head(const writer *w)
{
    bool used[MO_GRAPHML_ROLES][MO_GRAPHML_MAX_ATTRIBUTES] = { { false } };
    const mo_graph *g = w->g;

    find_used(g, used);
    LITERAL(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
                    "\n");
    write_keys(w, MO_GRAPHML_NODE, used[MO_GRAPHML_NODE]);
    write_columns(w, 't', "node", "time_us.", g->time_columns,
                  g->n_time_columns);
    write_keys(w, MO_GRAPHML_EDGE, used[MO_GRAPHML_EDGE]);
    write_columns(w, 'c', "edge", "comm_us.", g->comm_columns,
                  g->n_comm_columns);
    LITERAL(w->out, "  <graph ");
    if (g->name) {
        LITERAL(w->out, "id=\"");
        mo_out_xml(w->out, g->name);
        LITERAL(w->out, "\" ");
    }
    LITERAL(w->out, "edgedefault=\"directed\">\n");
}

static void make_openings(writer *w)
{
    for (int role = 0; role < MO_GRAPHML_ROLES; role++)
        for (int i = 0; i < mo_graphml_attributes_of[role].count; i++) {
            opening *o = &w->openings[role][i];

            o->length = (size_t) snprintf(o->text, sizeof o->text,
                                          "<data key=\"%s\">",
                                          key_id(role, i));
        }
}

void mo_graphml_write(const mo_graph *g, mo_out *out)
{
    writer w = { .g = g, .out = out };

    make_openings(&w);
    write_head(&w);
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        write_node(&w, i);
    for (int e = 0; e < g->n_edges; e++)
        write_edge(&w, e);
    for (int f = 0; f < g->n_feeds; f++)
        write_feed(&w, f);
    LITERAL(out, "  </graph>\n</graphml>\n");
}
