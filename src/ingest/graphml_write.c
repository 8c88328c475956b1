#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ingest/graphml.h"
#include "ingest/graphml_attribute.h"
#include "ingest/graphml_data.h"

/*
 * A graph is written in the order of its ids, which is its own; keys are those
 * of the attribute tables, each declared only if it is used.  What the reader
 * fills in by itself is left out: memory where it always is the sum of its
 * parts, and the bytes of an edge where they are all that its producer gives.
 */
typedef struct writer {
    const mo_graph *g;
    mo_out *out;
    mo_graphml_data nodes, edges;
    mo_graphml_set used; /* of the edges' attributes */
    int producer;        /* whose default_bytes are known, or -1 */
    int64_t default_bytes;
} writer;

#define LITERAL(out, text) mo_out_bytes((out), (text), sizeof(text) - 1)

#define SET(attribute) (1u << (attribute))

/* All that are fields of an op; constants and columns are written by hand. */
enum {
    FIELDS_OF_NODES = (SET(MO_GRAPHML_CONSTANT) - 1) | SET(MO_GRAPHML_OUTPUT)
};

/* Those that say which output an edge takes. */
enum { OUTPUT = SET(MO_GRAPHML_SRC_PORT) | SET(MO_GRAPHML_TENSOR) };

enum {
    FIELDS_OF_EDGES = SET(MO_GRAPHML_BYTES) | SET(MO_GRAPHML_DST_PORT) | OUTPUT
};

/* What a reader takes for the bytes of an edge that says nothing. */
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

/* An edge as it is written, as far as the attributes in wanted go. */
static mo_graphml_edge view_of(writer *w, const mo_edge *edge,
                               mo_graphml_set wanted)
{
    mo_graphml_edge view = {
        .from = edge->from,
        .to = edge->to,
        .src_port = MO_PORT_NONE,
        .dst_port = edge->dst_port,
        .bytes = MO_UNKNOWN,
    };

    if (wanted & SET(MO_GRAPHML_BYTES) &&
        edge->bytes != default_bytes(w, edge->from))
        view.bytes = edge->bytes;
    return view;
}

static mo_graphml_edge edge_of(writer *w, int e, mo_graphml_set wanted)
{
    const mo_edge *edge = &w->g->edges[e];
    mo_graphml_edge view = view_of(w, edge, wanted);

    if (wanted & OUTPUT) {
        view.src_port = w->g->tensors[edge->tensor].port;
        view.tensor = w->g->tensors[edge->tensor].key;
    }
    return view;
}

static mo_graphml_edge feed_of(writer *w, int f, mo_graphml_set wanted)
{
    mo_graphml_edge view = view_of(w, &w->g->feeds[f], wanted);

    view.src_port = w->g->feed_port[f];
    return view;
}

static bool is_memory_a_sum(const mo_op *op)
{
    uint64_t sum = 0;

    /* Left out, it would be taken from the constants that the op reads. */
    if (op->memory_told && op->weight_bytes == MO_UNKNOWN)
        return false;
    if (op->weight_bytes != MO_UNKNOWN)
        sum += (uint64_t) op->weight_bytes;
    if (op->workspace_bytes != MO_UNKNOWN)
        sum += (uint64_t) op->workspace_bytes;
    return (uint64_t) op->memory_bytes == sum;
}

static mo_graphml_set used_by_nodes(const mo_graph *g)
{
    mo_graphml_set unseen = FIELDS_OF_NODES & ~SET(MO_GRAPHML_MEMORY);
    bool are_sums = true;

    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        mo_graphml_data_note(MO_GRAPHML_NODE, &g->ops[i], &unseen);
        are_sums = are_sums && is_memory_a_sum(&g->ops[i]);
    }
    if (are_sums)
        unseen |= SET(MO_GRAPHML_MEMORY);
    return FIELDS_OF_NODES & ~unseen;
}

static mo_graphml_set used_by_edges(writer *w)
{
    mo_graphml_set unseen = FIELDS_OF_EDGES;

    for (int e = 0; e < w->g->n_edges && unseen; e++) {
        mo_graphml_edge edge = edge_of(w, e, unseen);

        mo_graphml_data_note(MO_GRAPHML_EDGE, &edge, &unseen);
    }
    for (int f = 0; f < w->g->n_feeds && unseen; f++) {
        mo_graphml_edge feed = feed_of(w, f, unseen);

        mo_graphml_data_note(MO_GRAPHML_EDGE, &feed, &unseen);
    }
    return FIELDS_OF_EDGES & ~unseen;
}

/* Columns have keys t0, t1, ... and c0, c1, ..., since their names may hold
 * what an id may not. */
static void declare_columns(const writer *w, char letter, const char *role,
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
    mo_graphml_data_declare(&w->nodes, w->out);
    if (g->n_constants > 0)
        LITERAL(w->out, "  <key id=\"constant\" for=\"node\" "
                        "attr.name=\"constant\" attr.type=\"boolean\"/>\n");
    declare_columns(w, 't', "node", "time_us.", g->time_columns,
                    g->n_time_columns);
    mo_graphml_data_declare(&w->edges, w->out);
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

static void write_node(const writer *w, int i)
{
    const mo_graph *g = w->g;

    LITERAL(w->out, "    <node id=\"");
    mo_out_xml(w->out, g->ops[i].name);
    LITERAL(w->out, "\">");
    mo_graphml_data_write(&w->nodes, &g->ops[i], w->out);
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
    mo_out_xml(w->out, w->g->ops[edge->from].name);
    LITERAL(w->out, "\" target=\"");
    mo_out_xml(w->out, w->g->ops[edge->to].name);
    LITERAL(w->out, "\">");
    mo_graphml_data_write(&w->edges, edge, w->out);
}

static void write_edge(writer *w, int e)
{
    const mo_graph *g = w->g;
    mo_graphml_edge edge = edge_of(w, e, w->used);

    begin_edge(w, &edge);
    if (g->n_comm_columns > 0)
        write_measures(w, 'c', g->comms, g->comm_start[e],
                       g->comm_start[e + 1]);
    LITERAL(w->out, "</edge>\n");
}

static void write_feed(writer *w, int f)
{
    mo_graphml_edge feed = feed_of(w, f, w->used);

    begin_edge(w, &feed);
    LITERAL(w->out, "</edge>\n");
}

void mo_graphml_write(const mo_graph *g, mo_out *out)
{
    writer w = { .g = g, .out = out, .producer = -1 };

    w.used = used_by_edges(&w);
    mo_graphml_data_init(&w.nodes, g, MO_GRAPHML_NODE, used_by_nodes(g));
    mo_graphml_data_init(&w.edges, g, MO_GRAPHML_EDGE, w.used);
    write_head(&w);
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        write_node(&w, i);
    for (int e = 0; e < g->n_edges; e++)
        write_edge(&w, e);
    for (int f = 0; f < g->n_feeds; f++)
        write_feed(&w, f);
    LITERAL(out, "  </graph>\n</graphml>\n");
    mo_graphml_data_clear(&w.edges);
    mo_graphml_data_clear(&w.nodes);
}
