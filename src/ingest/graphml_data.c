#include <config.h>

#include "ingest/graphml_data.h"

#include <stdlib.h>
#include <string.h>

#define LITERAL(out, text) mo_out_bytes((out), (text), sizeof(text) - 1)

static bool is_text(mo_graphml_kind kind)
{
    return kind <= MO_GRAPHML_NAMES;
}

/* A value as 64 bits, by which it is told from others of its kind. */
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

/* The bits of what is not there: NULL, MO_UNKNOWN, MO_PORT_NONE, false. */
static uint64_t absent_bits(mo_graphml_kind kind)
{
    static const double unknown_amount = MO_UNKNOWN;

    if (is_text(kind) || kind == MO_GRAPHML_FLAG)
        return 0;
    if (kind == MO_GRAPHML_AMOUNT)
        return bits_of(kind, &unknown_amount);
    return UINT64_MAX;
}

void mo_graphml_data_note(mo_graphml_role role, const void *base,
                          mo_graphml_set *unseen)
{
    const mo_graphml_attribute *a = mo_graphml_attributes_of[role].items;

    for (mo_graphml_set left = *unseen; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        const char *at = (const char *) base + a[i].offset;

        if (bits_of(a[i].kind, at) != absent_bits(a[i].kind))
            *unseen &= ~(1u << i);
    }
}

/* A key's id is its name, but where nodes and edges have the same. */
static const char *key_id(mo_graphml_role role, int index)
{
    if (role == MO_GRAPHML_EDGE && index == MO_GRAPHML_BYTES)
        return "edge_bytes";
    return mo_graphml_attributes_of[role].items[index].names[0];
}

void mo_graphml_data_init(mo_graphml_data *data, const mo_graph *g,
                          mo_graphml_role role, mo_graphml_set used)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];

    *data = (mo_graphml_data){ .g = g, .role = role };
    for (int i = 0; i < all->count; i++)
        if (used >> i & 1)
            data->fields[data->n_fields++] = (mo_graphml_field){
                .id = key_id(role, i),
                .name = all->items[i].names[0],
                .kind = all->items[i].kind,
                .offset = all->items[i].offset,
                .absent = absent_bits(all->items[i].kind),
                .phrases = calloc(1, sizeof(mo_graphml_phrases)),
            };
}

void mo_graphml_data_clear(mo_graphml_data *data)
{
    for (int i = 0; i < data->n_fields; i++)
        free(data->fields[i].phrases);
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

void mo_graphml_data_declare(const mo_graphml_data *data, mo_out *out)
{
    for (int i = 0; i < data->n_fields; i++) {
        const mo_graphml_field *f = &data->fields[i];

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

/* Writes a <data> and remembers it, as the phrase at place. */
static void write_new(const mo_graph *g, const mo_graphml_field *f,
                      const void *at, uint64_t value, size_t place, mo_out *out)
{
    bool in_one_piece = fits(out, f->kind, at);
    const char *start = out->at;
    size_t length;

    LITERAL(out, "<data key=\"");
    mo_out_text(out, f->id);
    LITERAL(out, "\">");
    write_value(g, f->kind, at, out);
    LITERAL(out, "</data>");
    if (!f->phrases || !in_one_piece)
        return;
    length = (size_t) (out->at - start);
    if (length > MO_GRAPHML_PHRASE_SIZE)
        return;
    memcpy(f->phrases->texts[place], start, length);
    f->phrases->lengths[place] = length;
    f->phrases->values[place] = value;
}

_Static_assert(MO_GRAPHML_PHRASES == 1 << (64 - 58), "a place for each hash");

void mo_graphml_data_write(const mo_graphml_data *data, const void *base,
                           mo_out *out)
{
    for (int i = 0; i < data->n_fields; i++) {
        const mo_graphml_field *f = &data->fields[i];
        const mo_graphml_phrases *known = f->phrases;
        const void *at = (const char *) base + f->offset;
        uint64_t value = bits_of(f->kind, at);
        size_t place = value * 0x9E3779B97F4A7C15 >> 58;

        if (value == f->absent)
            continue;
        if (known && known->values[place] == value && known->lengths[place])
            mo_out_bytes(out, known->texts[place], known->lengths[place]);
        else
            write_new(data->g, f, at, value, place, out);
    }
}
