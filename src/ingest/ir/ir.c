/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/ir/ir.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/out.h"
#include "ingest/ir/ir_internal.h"
#include "ingest/xml.h"

/*
 * Parser of OpenVINO IR. The elements that are read; all others (bodies of
 * loops, run-time hints, statistics) are skipped with their content:
 *
 *     net ─┬─ layers ── layer ─┬─ data
 *          │                   ├─ input  ── port ── dim
 *          │                   └─ output ── port ── dim
 *          └─ edges ── edge
 */
typedef enum place {
    AT_TOP,
    IN_NET,
    IN_LAYERS,
    IN_LAYER,
    IN_PORTS,
    IN_PORT,
    IN_EDGES,
    IN_LEAF
} place;

typedef struct port_list {
    mo_ir_port *items;
    size_t count, room;
} port_list;

typedef struct parser {
    mo_xml *xml;
    mo_ir *ir;     /* gets its layers when all are read */
    place open[8]; /* the current places, the innermost last */
    int depth;
    int skipped; /* depth inside a skipped element; 0: none */

    mo_ir_layer *layers;
    size_t n_layers, layer_room;
    mo_ir_edge *edges;
    size_t n_edges, edge_room;

    port_list inputs, outputs; /* of the current layer */
    port_list *ports;          /* the current one of them */
    bool has_data;
    mo_out *attrs;
    char *scratch;
    size_t scratch_room;
} parser;

/* Longer quotes in an error would push the remedy off its end. */
#define SHOWN(a) (int) ((a)->length < 80 ? (a)->length : 80), (a)->value

enum { MAX_LAYERS = 50000000, MAX_PORTS = 1 << 24 };

static mo_status require_attribute(parser *p, const mo_xml_element *element,
                                   const char *name,
                                   const mo_xml_attribute **found,
                                   mo_error *err)
{
    *found = mo_xml_find(element, name);
    if (*found)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, p->ir->file, element->line,
                      "<%s> has no '%s': the file is damaged, export the model "
                      "again",
                      element->name, name);
}

/* A number in the file: not negative, at most max. */
static mo_status read_number(parser *p, const mo_xml_element *element,
                             const char *name, int64_t max, int64_t *value,
                             mo_error *err)
{
    const mo_xml_attribute *a;
    mo_status status = require_attribute(p, element, name, &a, err);
    int64_t number = -1;

    if (status != MO_OK)
        return status;
    if (mo_number_read_int(a->value, a->length, &number) != MO_NUMBER_OK ||
        number < 0 || number > max)
        return mo_fail_at(err, MO_E_INPUT, p->ir->file, element->line,
                          "%s '%.*s' of <%s> is not a whole number from 0 to "
                          "%lld: the file is damaged, export the model again",
                          name, SHOWN(a), element->name, (long long) max);
    *value = number;
    return MO_OK;
}

static mo_status read_port_number(parser *p, const mo_xml_element *element,
                                  const char *name, int *value, mo_error *err)
{
    int64_t number = 0;
    mo_status status = read_number(p, element, name, INT_MAX, &number, err);

    if (status == MO_OK)
        *value = (int) number;
    return status;
}

static mo_status keep_value(parser *p, const mo_xml_attribute *a,
                            const char **kept, mo_error *err)
{
    *kept = a ? mo_arena_text(p->ir->arena, a->value, a->length) : NULL;
    return a && !*kept ? mo_fail_memory(err) : MO_OK;
}

static mo_status start_net(parser *p, const mo_xml_element *element,
                           mo_error *err)
{
    const mo_xml_attribute *a;
    int64_t version = 0;
    mo_status status =
        read_number(p, element, "version", INT_MAX, &version, err);

    if (status != MO_OK)
        return status;
    if (version != 10 && version != 11)
        return mo_fail_at(err, MO_E_SUPPORT, p->ir->file, element->line,
                          "IR version %d: only versions 10 and 11 are read; "
                          "convert the model again with OpenVINO 2022.1 or "
                          "later",
                          (int) version);
    p->ir->version = (int) version;
    a = mo_xml_find(element, "name");
    return keep_value(p, a, &p->ir->name, err);
}

static mo_status start_layer(parser *p, const mo_xml_element *element,
                             mo_error *err)
{
    mo_ir_layer layer = { .offset = -1, .size = -1, .line = element->line };
    const mo_xml_attribute *name = NULL, *type = NULL;
    mo_status status = read_number(p, element, "id", INT64_MAX, &layer.id, err);

    if (status == MO_OK)
        status = require_attribute(p, element, "name", &name, err);
    if (status == MO_OK)
        status = require_attribute(p, element, "type", &type, err);
    if (status == MO_OK && type->length == 0)
        status =
            mo_fail_at(err, MO_E_INPUT, p->ir->file, element->line,
                       "layer %lld has an empty type", (long long) layer.id);
    if (status == MO_OK)
        status = keep_value(p, name, &layer.name, err);
    if (status == MO_OK)
        status = keep_value(p, type, &layer.type, err);
    if (status == MO_OK)
        status =
            keep_value(p, mo_xml_find(element, "version"), &layer.version, err);
    if (status == MO_OK && p->n_layers == MAX_LAYERS)
        status = mo_fail_at(err, MO_E_LIMIT, p->ir->file, element->line,
                            "more than %d layers", MAX_LAYERS);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(p->layers, p->n_layers, p->layer_room, err);
    if (status != MO_OK)
        return status;
    p->layers[p->n_layers++] = layer;
    p->inputs.count = p->outputs.count = 0;
    p->has_data = false;
    return MO_OK;
}

/* Writes value, which is not terminated, as a JSON string. */
static mo_status write_value(parser *p, const mo_xml_attribute *a,
                             mo_error *err)
{
    void *scratch = p->scratch;
    mo_status status =
        mo_array_reserve(&scratch, &p->scratch_room, a->length + 1, 1, err);

    if (status != MO_OK)
        return status;
    p->scratch = scratch;
    memcpy(p->scratch, a->value, a->length);
    p->scratch[a->length] = '\0';
    mo_out_json(p->attrs, p->scratch);
    return MO_OK;
}

static mo_status keep_attributes(parser *p, const mo_xml_element *element,
                                 const char **kept, mo_error *err)
{
    char *text;
    size_t length;

    if (element->n_attributes == 0)
        return MO_OK;
    mo_out_char(p->attrs, '{');
    for (int i = 0; i < element->n_attributes; i++) {
        if (i > 0)
            mo_out_char(p->attrs, ',');
        mo_out_json(p->attrs, element->attributes[i].name);
        mo_out_char(p->attrs, ':');
        if (write_value(p, &element->attributes[i], err) != MO_OK)
            return MO_E_MEMORY;
    }
    mo_out_char(p->attrs, '}');
    text = mo_out_take(p->attrs, &length);
    *kept = text ? mo_arena_text(p->ir->arena, text, length) : NULL;
    free(text);
    return *kept ? MO_OK : mo_fail_memory(err);
}

static mo_status start_data(parser *p, const mo_xml_element *element,
                            mo_error *err)
{
    mo_ir_layer *layer = &p->layers[p->n_layers - 1];
    mo_status status;

    if (p->has_data)
        return mo_fail_at(err, MO_E_INPUT, p->ir->file, element->line,
                          "a second <data> in layer '%.80s': put all its "
                          "attributes into one",
                          layer->name);
    p->has_data = true;
    status = keep_attributes(p, element, &layer->attrs, err);
    /* Other types have parameters of these names that mean something else. */
    if (status != MO_OK || strcmp(layer->type, "Const") != 0)
        return status;
    status = read_number(p, element, "offset", INT64_MAX, &layer->offset, err);
    if (status != MO_OK)
        return status;
    return read_number(p, element, "size", INT64_MAX, &layer->size, err);
}

static mo_status start_input(parser *p, const mo_xml_element *element,
                             mo_error *err)
{
    (void) element;
    (void) err;
    p->ports = &p->inputs;
    return MO_OK;
}

static mo_status start_output(parser *p, const mo_xml_element *element,
                              mo_error *err)
{
    (void) element;
    (void) err;
    p->ports = &p->outputs;
    return MO_OK;
}

static mo_status start_port(parser *p, const mo_xml_element *element,
                            mo_error *err)
{
    port_list *ports = p->ports;
    mo_ir_port port = { .source_layer = -1, .source_port = -1 };
    const mo_xml_attribute *precision = mo_xml_find(element, "precision");
    mo_status status = read_port_number(p, element, "id", &port.id, err);

    if (status == MO_OK && precision)
        status = mo_ir_read_dtype(p->ir, precision->value, precision->length,
                                  element->line, &port.dtype, err);
    if (status == MO_OK && ports->count == MAX_PORTS)
        status = mo_fail_at(err, MO_E_LIMIT, p->ir->file, element->line,
                            "a layer with more than %d ports", MAX_PORTS);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(ports->items, ports->count, ports->room, err);
    if (status == MO_OK)
        ports->items[ports->count++] = port;
    return status;
}

static mo_status start_dim(parser *p, const mo_xml_element *element,
                           mo_error *err)
{
    (void) element;
    (void) err;
    mo_xml_want_text(p->xml);
    return MO_OK;
}

static mo_status end_dim(parser *p, const char *text, size_t length, int line,
                         mo_error *err)
{
    mo_shape *shape = &p->ports->items[p->ports->count - 1].shape;
    mo_shape_fault fault;

    if (shape->rank == MO_MAX_RANK)
        return mo_fail_at(err, MO_E_LIMIT, p->ir->file, line,
                          "a tensor of more than %d dimensions", MO_MAX_RANK);
    fault = mo_shape_read_dim(text, length, &shape->dims[shape->rank]);
    if (fault == MO_SHAPE_INVALID)
        return mo_fail_at(err, MO_E_INPUT, p->ir->file, line,
                          "'%.80s' is not a dimension: a whole number is one, "
                          "or -1 for a dynamic one",
                          text);
    shape->rank++;
    if (fault == MO_SHAPE_RANGE || !mo_shape_fits(shape))
        return mo_fail_at(err, MO_E_LIMIT, p->ir->file, line,
                          "a tensor of more than 2^48 elements");
    return MO_OK;
}

static mo_status start_edge(parser *p, const mo_xml_element *element,
                            mo_error *err)
{
    mo_ir_edge edge = { .line = element->line };
    mo_status status =
        read_number(p, element, "from-layer", INT64_MAX, &edge.from_layer, err);

    if (status == MO_OK)
        status =
            read_port_number(p, element, "from-port", &edge.from_port, err);
    if (status == MO_OK)
        status =
            read_number(p, element, "to-layer", INT64_MAX, &edge.to_layer, err);
    if (status == MO_OK)
        status = read_port_number(p, element, "to-port", &edge.to_port, err);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(p->edges, p->n_edges, p->edge_room, err);
    if (status == MO_OK)
        p->edges[p->n_edges++] = edge;
    return status;
}

static mo_status keep_ports(parser *p, const port_list *ports,
                            mo_ir_port **kept, int *n, mo_error *err)
{
    if (ports->count == 0)
        return MO_OK;
    *kept = mo_arena_array(p->ir->arena, ports->count, sizeof **kept);
    if (!*kept)
        return mo_fail_memory(err);
    memcpy(*kept, ports->items, ports->count * sizeof **kept);
    *n = (int) ports->count;
    return MO_OK;
}

static mo_status end_layer(parser *p, const char *text, size_t length, int line,
                           mo_error *err)
{
    mo_ir_layer *layer = &p->layers[p->n_layers - 1];
    mo_status status;

    (void) text;
    (void) length;
    (void) line;
    status = keep_ports(p, &p->inputs, &layer->inputs, &layer->n_inputs, err);
    if (status == MO_OK)
        status =
            keep_ports(p, &p->outputs, &layer->outputs, &layer->n_outputs, err);
    return status == MO_OK ? mo_ir_complete_layer(p->ir, layer, err) : status;
}

static const struct rule {
    place parent;
    const char *name;
    place child;
    mo_status (*start)(parser *p, const mo_xml_element *element, mo_error *err);
    mo_status (*end)(parser *p, const char *text, size_t length, int line,
                     mo_error *err);
} rules[] = {
    { AT_TOP, "net", IN_NET, start_net, NULL },
    { IN_NET, "layers", IN_LAYERS, NULL, NULL },
    { IN_NET, "edges", IN_EDGES, NULL, NULL },
    { IN_LAYERS, "layer", IN_LAYER, start_layer, end_layer },
    { IN_LAYER, "data", IN_LEAF, start_data, NULL },
    { IN_LAYER, "input", IN_PORTS, start_input, NULL },
    { IN_LAYER, "output", IN_PORTS, start_output, NULL },
    { IN_PORTS, "port", IN_PORT, start_port, NULL },
    { IN_PORT, "dim", IN_LEAF, start_dim, end_dim },
    { IN_EDGES, "edge", IN_LEAF, start_edge, NULL },
};

static const struct rule *find_transition(place parent, const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].parent == parent && strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

static mo_status on_start(void *state, const mo_xml_element *element,
                          mo_error *err)
{
    parser *p = state;
    const struct rule *rule = NULL;
    mo_status status = MO_OK;

    if (p->skipped == 0)
        rule = find_transition(p->open[p->depth], element->name);
    if (!rule && p->depth == 0 && p->skipped == 0)
        return mo_fail_at(err, MO_E_INPUT, p->ir->file, element->line,
                          "the root element is <%.80s>, not <net>: this is not "
                          "an OpenVINO model",
                          element->name);
    if (!rule) {
        p->skipped++;
        return MO_OK;
    }
    if (rule->start)
        status = rule->start(p, element, err);
    p->open[++p->depth] = rule->child;
    return status;
}

static mo_status on_end(void *state, const char *name, const char *text,
                        size_t length, int line, mo_error *err)
{
    parser *p = state;
    const struct rule *rule;
    mo_status status = MO_OK;

    if (p->skipped > 0) {
        p->skipped--;
        return MO_OK;
    }
    rule = find_transition(p->open[p->depth - 1], name);
    assert(rule);
    if (rule->end)
        status = rule->end(p, text, length, line, err);
    p->depth--;
    return status;
}

static mo_status open_parser(parser *p, const char *file, mo_error *err)
{
    mo_arena *arena = mo_arena_new();

    if (!arena)
        return mo_fail_memory(err);
    p->ir = mo_arena_alloc(arena, sizeof *p->ir);
    if (!p->ir) {
        mo_arena_free(arena);
        return mo_fail_memory(err);
    }
    p->ir->arena = arena;
    p->ir->file = mo_arena_text(arena, file, strlen(file));
    return p->ir->file ? mo_out_memory(&p->attrs, err) : mo_fail_memory(err);
}

/* Moves the layers into the model and resolves its edges. */
static mo_status finish_model(parser *p, mo_error *err)
{
    mo_ir *ir = p->ir;

    if (p->n_layers == 0)
        return mo_fail_at(err, MO_E_INPUT, ir->file, 0,
                          "the model has no layers: export it again");
    ir->layers = mo_arena_array(ir->arena, p->n_layers, sizeof *ir->layers);
    if (!ir->layers)
        return mo_fail_memory(err);
    memcpy(ir->layers, p->layers, p->n_layers * sizeof *ir->layers);
    ir->n_layers = (int) p->n_layers;
    return mo_ir_resolve_edges(ir, p->edges, p->n_edges, err);
}

mo_status mo_ir_read(mo_input *input, mo_ir **ir, mo_error *err)
{
    static const mo_xml_handler handler = { on_start, on_end };
    parser p = { .ir = NULL };
    mo_status status = open_parser(&p, mo_input_name(input), err);

    if (status == MO_OK)
        status = mo_xml_parse(input, &handler, &p, &p.xml, err);
    if (status == MO_OK)
        status = finish_model(&p, err);
    /* All but the model itself. */
    free(p.layers);
    free(p.edges);
    free(p.inputs.items);
    free(p.outputs.items);
    free(p.scratch);
    mo_out_abandon(p.attrs);
    if (status != MO_OK) {
        mo_ir_free(p.ir);
        return status;
    }
    *ir = p.ir;
    return MO_OK;
}

mo_status mo_ir_read_memory(const char *file, const char *data, size_t size,
                            mo_ir **ir, mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    if (status == MO_OK)
        status = mo_ir_read(input, ir, err);
    mo_input_close(input);
    return status;
}

void mo_ir_free(mo_ir *ir)
{
    if (ir)
        mo_arena_free(ir->arena);
}
