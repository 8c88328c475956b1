/* SPDX-License-Identifier: Apache-2.0 */
/* Topological order of the layers of an OpenVINO model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ir/ir.h"

/* The consumers of each layer, in compressed rows. */
typedef struct readers {
    int *start; /* of layer i: [start[i], start[i + 1]) */
    int *reader;
    int *waiting; /* inputs from a source not in the order yet */
} readers;

static mo_status find_readers(const mo_ir *ir, readers *r, mo_error *err)
{
    size_t n = (size_t) ir->n_layers, edges = 0;

    for (int i = 0; i < ir->n_layers; i++)
        edges += (size_t) ir->layers[i].n_inputs;
    r->start = calloc(n + 2, sizeof *r->start);
    r->reader = calloc(edges + 1, sizeof *r->reader);
    r->waiting = calloc(n + 1, sizeof *r->waiting);
    if (!r->start || !r->reader || !r->waiting)
        return mo_fail_memory(err);

    /* Counted one place too far, so that filling moves start[i + 1] from the
     * beginning of row i to its end. */
    for (int i = 0; i < ir->n_layers; i++)
        for (int k = 0; k < ir->layers[i].n_inputs; k++)
            r->start[ir->layers[i].inputs[k].source_layer + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        r->start[i] += r->start[i - 1];
    for (int i = 0; i < ir->n_layers; i++) {
        r->waiting[i] = ir->layers[i].n_inputs;
        for (int k = 0; k < ir->layers[i].n_inputs; k++) {
            int source = ir->layers[i].inputs[k].source_layer;
            r->reader[r->start[source + 1]++] = i;
        }
    }
    return MO_OK;
}

/* A layer that is not ordered has an input from one that is not, either. */
static int unordered_source(const mo_ir *ir, const int *waiting, int layer)
{
    int k = 0;

    while (waiting[ir->layers[layer].inputs[k].source_layer] == 0)
        k++;
    return ir->layers[layer].inputs[k].source_layer;
}

/* Walks back from any unordered layer until one recurs, which is on a cycle,
 * and goes round once more to name its layers. */
static mo_status fail_cycle(const mo_ir *ir, int *waiting, mo_error *err)
{
    char text[MO_ERROR_TEXT_SIZE] = "", step[160];
    int at = 0, shown = 0;
    int first;

    while (waiting[at] == 0)
        at++;
    /* -1 marks visited layers; they still count as unordered. */
    for (; waiting[at] > 0; at = unordered_source(ir, waiting, at))
        waiting[at] = -1;
    first = at;
    do {
        const mo_ir_layer *layer = &ir->layers[at];

        snprintf(step, sizeof step, "%s'%.80s' (line %d)", shown ? " <- " : "",
                 layer->name, layer->line);
        strcat(text, step);
        at = unordered_source(ir, waiting, at);
    } while (at != first && ++shown < 5);
    return mo_fail_at(err, MO_E_INPUT, ir->file, ir->layers[first].line,
                      "the layers run in a circle: %s%s; the file is damaged, "
                      "export the model again",
                      text, at == first ? "" : " <- ...");
}

mo_status mo_ir_topo_order(const mo_ir *ir, int **order, mo_error *err)
{
    readers r = { NULL, NULL, NULL };
    int *placed = calloc((size_t) ir->n_layers + 1, sizeof *placed);
    mo_status status = placed ? find_readers(ir, &r, err) : mo_fail_memory(err);
    int n = 0;

    if (status != MO_OK)
        goto out;
    for (int i = 0; i < ir->n_layers; i++)
        if (r.waiting[i] == 0)
            placed[n++] = i;
    for (int next = 0; next < n; next++)
        for (int e = r.start[placed[next]]; e < r.start[placed[next] + 1]; e++)
            if (--r.waiting[r.reader[e]] == 0)
                placed[n++] = r.reader[e];
    if (n < ir->n_layers)
        status = fail_cycle(ir, r.waiting, err);
out:
    free(r.start);
    free(r.reader);
    free(r.waiting);
    if (status != MO_OK) {
        free(placed);
        return status;
    }
    *order = placed;
    return MO_OK;
}
