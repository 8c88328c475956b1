/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ingest/graphml/data_writer.h"

#include <stdlib.h>
#include <string.h>

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

/* A key's id is its name, but where nodes and edges have the same. */
static const char *key_id(mo_graphml_role role, int index)
{
    if (role == MO_GRAPHML_EDGE && index == MO_GRAPHML_BYTES)
        return "edge_bytes";
    return mo_graphml_attributes_of[role].items[index].names[0];
}

void mo_graphml_data_writer_init(mo_graphml_data_writer *data,
                                 const mo_graph *g, mo_graphml_role role,
                                 mo_graphml_attribute_set wanted)
{
    const mo_graphml_attribute *a = mo_graphml_attributes_of[role].items;

    *data = (mo_graphml_data_writer){ .g = g, .role = role };
    for (int i = 0; wanted >> i; i++)
        if (wanted >> i & 1)
            data->fields[data->n_fields++] = (mo_graphml_field){
                .index = i,
                .id = key_id(role, i),
                .name = a[i].names[0],
                .kind = a[i].kind,
                .offset = a[i].offset,
                .absent = absent_bits(a[i].kind),
            };
}

void mo_graphml_data_writer_begin(mo_graphml_data_writer *data)
{
    data->passages = calloc(PASSAGES, sizeof *data->passages);
}

void mo_graphml_data_writer_clear(mo_graphml_data_writer *data)
{
    free(data->passages);
}

mo_graphml_attribute_set
mo_graphml_data_writer_drop(mo_graphml_data_writer *data, const void *base)
{
    mo_graphml_attribute_set dropped = 0;

    for (int i = data->n_fields - 1; i >= 0; i--) {
        const mo_graphml_field *f = &data->fields[i];

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

void mo_graphml_data_writer_declare(const mo_graphml_data_writer *data,
                                    mo_out *out)
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

/* True when all of it is sure to fit into the buffer in one piece. */
static bool fits_buffer(const mo_graphml_data_writer *data, const void *base,
                        const mo_out *out)
{
    enum { MAX_VALUES = 1000, MAX_ESCAPE = 6, MAX_REST = 64 };
    size_t length = 0;

    if (out->end - out->at <
        MAX_VALUES * MAX_ESCAPE + MO_GRAPHML_MAX_ATTRIBUTES * MAX_REST)
        return false;
    for (int i = 0; i < data->n_fields; i++) {
        const mo_graphml_field *f = &data->fields[i];
        const char *at = (const char *) base + f->offset;

        if (is_text(f->kind) && *(const char *const *) at)
            length += strnlen(*(const char *const *) at, MAX_VALUES);
    }
    return length < MAX_VALUES;
}

static void write_fields(const mo_graphml_data_writer *data, const void *base,
                         mo_out *out)
{
    for (int i = 0; i < data->n_fields; i++) {
        const mo_graphml_field *f = &data->fields[i];
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

static void write_new(const mo_graphml_data_writer *data, const void *base,
                      const uint64_t *values, mo_graphml_cached_text *to,
                      mo_out *out)
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
static size_t read_values(const mo_graphml_data_writer *data, const void *base,
                          uint64_t *values)
{
    uint64_t hash = 0;

    for (int i = 0; i < data->n_fields; i++) {
        const mo_graphml_field *f = &data->fields[i];

        values[i] = bits_of(f->kind, (const char *) base + f->offset);
        hash = (hash ^ values[i]) * 0x9E3779B97F4A7C15;
    }
    return hash >> 58;
}

_Static_assert(PASSAGES == 1 << (64 - 58), "a place for each hash");

void mo_graphml_data_writer_write(const mo_graphml_data_writer *data,
                                  const void *base, mo_out *out)
{
    uint64_t values[MO_GRAPHML_MAX_ATTRIBUTES];
    mo_graphml_cached_text *known;

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
