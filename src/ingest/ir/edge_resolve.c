/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolution of the edges of an OpenVINO model from ids to layers and ports.
 */
#include "ingest/ir/ir_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* Layers sorted by their id. */
typedef struct place {
    int64_t id;
    int layer;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->layer < y->layer ? -1 : x->layer > y->layer;
}

static mo_status sort_layers(const mo_ir *ir, place *places, mo_error *err)
{
    for (int i = 0; i < ir->n_layers; i++)
        places[i] = (place){ ir->layers[i].id, i };
    qsort(places, (size_t) ir->n_layers, sizeof *places, compare_places);
    for (int i = 1; i < ir->n_layers; i++)
        if (places[i].id == places[i - 1].id)
            return mo_fail_at(
                err, MO_E_INPUT, ir->file, ir->layers[places[i].layer].line,
                "layer id %" PRId64 " is taken by the layer of "
                "line %d: every layer needs an id of its own",
                places[i].id, ir->layers[places[i - 1].layer].line);
    return MO_OK;
}

/* The index of the layer with that id, or -1. */
static int find_layer(const place *places, int n, int64_t id)
{
    int low = 0, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (places[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && places[low].id == id ? places[low].layer : -1;
}

/* The index of the port with that id, or -1.  Ports nearly always stand in
 * ascending order; the few layers where they do not are small. */
static int find_port(const mo_ir_port *ports, int n, int id)
{
    int low = 0, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (ports[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && ports[low].id == id)
        return low;
    for (int i = 0; i < n && n <= MO_IR_MAX_UNORDERED_PORTS; i++)
        if (ports[i].id == id)
            return i;
    return -1;
}

static mo_status fail_no_layer(const mo_ir *ir, const mo_ir_edge *edge,
                               int64_t id, const char *end, mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, ir->file, edge->line,
                      "the edge's %s-layer %" PRId64 " does not exist: the "
                      "file is damaged, export the model again",
                      end, id);
}

static mo_status fail_no_port(const mo_ir *ir, const mo_ir_edge *edge,
                              const mo_ir_layer *layer, int id,
                              const char *kind, mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, ir->file, edge->line,
                      "layer '%.80s' (line %d) has no %s port %d: the file is "
                      "damaged, export the model again",
                      layer->name, layer->line, kind, id);
}

static mo_status link_edge(mo_ir *ir, const place *places,
                           const mo_ir_edge *edge, mo_error *err)
{
    int from = find_layer(places, ir->n_layers, edge->from_layer);
    int to = find_layer(places, ir->n_layers, edge->to_layer);
    const mo_ir_layer *source, *target;
    int output, input;
    mo_ir_port *port;

    if (from < 0)
        return fail_no_layer(ir, edge, edge->from_layer, "from", err);
    if (to < 0)
        return fail_no_layer(ir, edge, edge->to_layer, "to", err);
    source = &ir->layers[from];
    target = &ir->layers[to];
    output = find_port(source->outputs, source->n_outputs, edge->from_port);
    if (output < 0)
        return fail_no_port(ir, edge, source, edge->from_port, "output", err);
    input = find_port(target->inputs, target->n_inputs, edge->to_port);
    if (input < 0)
        return fail_no_port(ir, edge, target, edge->to_port, "input", err);

    port = &target->inputs[input];
    if (port->source_layer >= 0)
        return mo_fail_at(err, MO_E_INPUT, ir->file, edge->line,
                          "input port %d of layer '%.80s' (line %d) already "
                          "has a source: remove one of the edges",
                          edge->to_port, target->name, target->line);
    port->source_layer = from;
    port->source_port = output;
    if (!port->dtype)
        port->dtype = source->outputs[output].dtype;
    return MO_OK;
}

static mo_status check_fed(const mo_ir *ir, mo_error *err)
{
    for (int i = 0; i < ir->n_layers; i++) {
        const mo_ir_layer *layer = &ir->layers[i];

        for (int k = 0; k < layer->n_inputs; k++)
            if (layer->inputs[k].source_layer < 0)
                return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                                  "no edge leads to input port %d of layer "
                                  "'%.80s': the file is damaged, export the "
                                  "model again",
                                  layer->inputs[k].id, layer->name);
    }
    return MO_OK;
}

mo_status mo_ir_resolve_edges(mo_ir *ir, const mo_ir_edge *edges,
                              size_t n_edges, mo_error *err)
{
    place *places = calloc((size_t) ir->n_layers + 1, sizeof *places);
    mo_status status;

    if (!places)
        return mo_fail_memory(err);
    status = sort_layers(ir, places, err);
    for (size_t i = 0; i < n_edges && status == MO_OK; i++)
        status = link_edge(ir, places, &edges[i], err);
    free(places);
    return status == MO_OK ? check_fed(ir, err) : status;
}
