#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/graphml.h"
#include "ingest/graphml_attribute.h"

/*
 * A graph is written in the order of its ids, which is its own; keys are those
 * of the attribute tables, each declared only if it is used.  What the reader
 * fills in by itself is left out.
 *
 * Large graphs say the same over and over: every <data> is remembered as it was
 * written, in a place that depends on its value, and copied when the value
 * comes again.  (Equal texts of a graph are the same pointer.)
 */
enum { PHRASES = 64, PHRASE_SIZE = 240 };

typedef struct phrase {
    uint64_t value;   /* a number's bits, or a text's address */
    size_t length;    /* 0: none yet */
    char text[PHRASE_SIZE];
} phrase;

typedef phrase phrasebook[MO_GRAPHML_ROLES][MO_GRAPHML_MAX_ATTRIBUTES][PHRASES];

/* Some of the attributes of a role, by index. */
typedef struct selection {
    int items[MO_GRAPHML_MAX_ATTRIBUTES];
    int count;
} selection;

typedef struct writer {
    const mo_graph *g;
    mo_out *out;
    selection used[MO_GRAPHML_ROLES];   /* those that anything has */
    phrasebook *book;   /* NULL when there is no memory for it */
    int producer;       /* the one whose default_bytes are known, or -1 */
    int64_t default_bytes;
} writer;

#define LITERAL(out, text) mo_out_bytes((out), (text), sizeof(text) - 1)

static const void *field_at(mo_graphml_role role, int index, const void *base)
{
    return (const char *) base +
           mo_graphml_attributes_of[role].items[index].offset;
}

static bool is_text(mo_graphml_kind kind)
{
    return kind <= MO_GRAPHML_JSON;
}

/* A value as 64 bits, by which it is told from others of its kind. */
static uint64_t bits_of(mo_graphml_kind kind, const void *at)
{
    uint64_t bits;

    if (kind > MO_GRAPHML_PORT)
        return 0;
    if (kind == MO_GRAPHML_PORT)
        return (uint64_t) *(const int *) at;
    memcpy(&bits, at, sizeof bits);
    return bits;
}

/* The bits of what is not there: NULL, MO_UNKNOWN, MO_PORT_NONE.  Flags and
 * measures are no fields of an op; they are written by hand. */
static const uint64_t absent[] = {
    [MO_GRAPHML_TEXT] = 0,
    [MO_GRAPHML_SHAPE] = 0,
    [MO_GRAPHML_DTYPE] = 0,
    [MO_GRAPHML_JSON] = 0,
    [MO_GRAPHML_SIZE] = UINT64_MAX,
    [MO_GRAPHML_AMOUNT] = 0xBFF0000000000000,   /* -1.0 */
    [MO_GRAPHML_PORT] = UINT64_MAX,
    [MO_GRAPHML_FLAG] = 0,
    [MO_GRAPHML_MEASURE] = 0,
};

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
    case MO_GRAPHML_PORT:
        write_port(w, *(const int *) at);
        break;
    case MO_GRAPHML_FLAG:
        break;
    }
}

/* A key's id is its name, but where nodes and edges have the same. */
static const char *key_id(mo_graphml_role role, int index)
{
    if (role == MO_GRAPHML_EDGE && index == MO_GRAPHML_BYTES)
        return "edge_bytes";
    return mo_graphml_attributes_of[role].items[index].names[0];
}

static phrase *phrase_of(phrase *phrases, uint64_t value)
{
    return &phrases[value * 0x9E3779B97F4A7C15 >> 58];
}

_Static_assert(PHRASES == 1 << (64 - 58), "one place for each hash");

/* Will the value certainly be written to the buffer in one piece? */
static bool fits(const mo_out *out, mo_graphml_kind kind, const void *at)
{
    enum { MAX_VALUE = 256, MAX_ESCAPE = 6, MAX_REST = 64 };
    const size_t need = MAX_VALUE * MAX_ESCAPE + MAX_REST;

    if ((size_t) (out->end - out->at) < need)
        return false;
    return !is_text(kind) ||
           strnlen(*(const char *const *) at, MAX_VALUE) < MAX_VALUE;
}

static void write_new(const writer *w, mo_graphml_role role, int index,
                      const void *at, uint64_t value, phrase *p)
{
    mo_graphml_kind kind = mo_graphml_attributes_of[role].items[index].kind;
    bool in_one_piece = fits(w->out, kind, at);
    const char *start = w->out->at;
    size_t length;

    LITERAL(w->out, "<data key=\"");
    mo_out_text(w->out, key_id(role, index));
    LITERAL(w->out, "\">");
    write_value(w, kind, at);
    LITERAL(w->out, "</data>");
    if (!p || !in_one_piece)
        return;
    length = (size_t) (w->out->at - start);
    if (length > PHRASE_SIZE)
        return;
    memcpy(p->text, start, length);
    p->length = length;
    p->value = value;
}

static void write_data(const writer *w, mo_graphml_role role, const void *base)
{
    const selection *used = &w->used[role];

    for (int k = 0; k < used->count; k++) {
        int i = used->items[k];
        mo_graphml_kind kind = mo_graphml_attributes_of[role].items[i].kind;
        const void *at = field_at(role, i, base);
        uint64_t value = bits_of(kind, at);
        phrase *p;

        if (value == absent[kind])
            continue;
        p = w->book ? phrase_of((*w->book)[role][i], value) : NULL;
        if (p && p->length > 0 && p->value == value)
            mo_out_bytes(w->out, p->text, p->length);
        else
            write_new(w, role, i, at, value, p);
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

/* What a reader takes for the bytes of an edge that says nothing. */
static int64_t default_bytes(writer *w, int producer)
{
    const mo_op *op = &w->g->ops[producer];

    if (w->producer != producer) {
        w->producer = producer;
        w->default_bytes = op->shape && strchr(op->shape, ';')
                               ? MO_UNKNOWN
                               : op->output_bytes;
    }
    return w->default_bytes;
}

static mo_graphml_edge view_of(writer *w, const mo_edge *edge)
{
    bool is_default = edge->bytes == default_bytes(w, edge->from);

    return (mo_graphml_edge) {
        .from = edge->from,
        .to = edge->to,
        .dst_port = edge->dst_port,
        .bytes = is_default ? MO_UNKNOWN : edge->bytes,
    };
}

static mo_graphml_edge edge_of(writer *w, int e)
{
    const mo_edge *edge = &w->g->edges[e];
    mo_graphml_edge view = view_of(w, edge);

    view.src_port = w->g->tensors[edge->tensor].port;
    view.tensor = w->g->tensors[edge->tensor].key;
    return view;
}

static mo_graphml_edge feed_of(writer *w, int f)
{
    mo_graphml_edge view = view_of(w, &w->g->feeds[f]);

    view.src_port = w->g->feed_port[f];
    return view;
}

static void write_node(writer *w, int i)
{
    const mo_graph *g = w->g;

    LITERAL(w->out, "    <node id=\"");
    mo_out_xml(w->out, g->ops[i].name);
    LITERAL(w->out, "\">");
    write_data(w, MO_GRAPHML_NODE, &g->ops[i]);
    if (g->n_time_columns > 0)
        write_measures(w, 't', g->times, g->time_start[i],
                       g->time_start[i + 1]);
    if (i >= g->n_ops)
        LITERAL(w->out, "<data key=\"constant\">true</data>");
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

static void write_edge(writer *w, int e)
{
    const mo_graph *g = w->g;
    mo_graphml_edge edge = edge_of(w, e);

    begin_edge(w, &edge);
    if (g->n_comm_columns > 0)
        write_measures(w, 'c', g->comms, g->comm_start[e],
                       g->comm_start[e + 1]);
    LITERAL(w->out, "</edge>\n");
}

static void write_feed(writer *w, int f)
{
    mo_graphml_edge feed = feed_of(w, f);

    begin_edge(w, &feed);
    LITERAL(w->out, "</edge>\n");
}

/* Adds to used, a bit for each attribute, what base has. */
static void note_used(mo_graphml_role role, const void *base, unsigned *used)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];

    for (int i = 0; i < all->count; i++) {
        mo_graphml_kind kind = all->items[i].kind;

        if (*used >> i & 1)
            continue;
        if (bits_of(kind, field_at(role, i, base)) != absent[kind])
            *used |= 1u << i;
    }
}

/* Then a reader finds it by itself. */
static bool is_memory_a_sum(const mo_op *op)
{
    uint64_t sum = 0;

    if (op->weight_bytes != MO_UNKNOWN)
        sum += (uint64_t) op->weight_bytes;
    if (op->workspace_bytes != MO_UNKNOWN)
        sum += (uint64_t) op->workspace_bytes;
    return (uint64_t) op->memory_bytes == sum;
}

static unsigned used_by_nodes(const mo_graph *g)
{
    unsigned used = 1u << MO_GRAPHML_MEMORY;
    bool are_sums = true;

    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        note_used(MO_GRAPHML_NODE, &g->ops[i], &used);
        are_sums = are_sums && is_memory_a_sum(&g->ops[i]);
    }
    if (are_sums)
        used &= ~(1u << MO_GRAPHML_MEMORY);
    if (g->n_constants > 0)
        used |= 1u << MO_GRAPHML_CONSTANT;
    return used;
}

static unsigned used_by_edges(writer *w)
{
    unsigned used = 0;

    for (int e = 0; e < w->g->n_edges; e++) {
        mo_graphml_edge edge = edge_of(w, e);

        note_used(MO_GRAPHML_EDGE, &edge, &used);
    }
    for (int f = 0; f < w->g->n_feeds; f++) {
        mo_graphml_edge feed = feed_of(w, f);

        note_used(MO_GRAPHML_EDGE, &feed, &used);
    }
    return used;
}

static void select_used(selection *selected, unsigned used)
{
    for (int i = 0; i < MO_GRAPHML_MAX_ATTRIBUTES; i++)
        if (used >> i & 1)
            selected->items[selected->count++] = i;
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

static void write_keys(const writer *w, mo_graphml_role role)
{
    const selection *used = &w->used[role];

    for (int k = 0; k < used->count; k++) {
        int i = used->items[k];
        const mo_graphml_attribute *a = &mo_graphml_attributes_of[role].items[i];

        mo_out_printf(w->out,
                      "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" "
                      "attr.type=\"%s\"/>\n",
                      key_id(role, i),
                      role == MO_GRAPHML_NODE ? "node" : "edge", a->names[0],
                      type_name(w->g, a->kind));
    }
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
    const mo_graph *g = w->g;

    LITERAL(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
                    "\n");
    write_keys(w, MO_GRAPHML_NODE);
    write_columns(w, 't', "node", "time_us.", g->time_columns,
                  g->n_time_columns);
    write_keys(w, MO_GRAPHML_EDGE);
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

void mo_graphml_write(const mo_graph *g, mo_out *out)
{
    writer w = { .g = g, .out = out, .producer = -1 };

    w.book = calloc(1, sizeof *w.book);
    select_used(&w.used[MO_GRAPHML_NODE], used_by_nodes(g));
    select_used(&w.used[MO_GRAPHML_EDGE], used_by_edges(&w));
    write_head(&w);
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        write_node(&w, i);
    for (int e = 0; e < g->n_edges; e++)
        write_edge(&w, e);
    for (int f = 0; f < g->n_feeds; f++)
        write_feed(&w, f);
    LITERAL(out, "  </graph>\n</graphml>\n");
    free(w.book);
}
