/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the library: reading, coarsening, queries. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/phases.h"
#include "ingest/graphml.h"
#include "ingest/read.h"
#include "lib/handles.h"
#include "lib/op_key.h"

static mo_status copy_list(mo_option_list *to, const mo_option_list *from,
                           mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < from->count && status == MO_OK; i++) {
        char *copy = NULL;

        status = MO_ARRAY_GROW(to->items, to->count, to->room, err);
        if (status == MO_OK)
            status = mo_lib_copy_text(from->items[i], &copy, err);
        if (status == MO_OK)
            to->items[to->count++] = copy;
    }
    return status;
}

static void free_copies(mo_option_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((void *) (uintptr_t) list->items[i]);
    mo_option_list_free(list);
}

mo_status mo_lib_graph_keep_options(moirai_graph *graph,
                                    const mo_read_options *read, mo_error *err)
{
    mo_status status = copy_list(&graph->read.shapes, &read->shapes, err);

    return status == MO_OK ? copy_list(&graph->read.values, &read->values, err)
                           : status;
}

mo_status mo_lib_graph_make(mo_graph *graph, const char *path,
                            const moirai_options *options,
                            moirai_graph **wrapped, mo_error *err)
{
    const mo_lib_settings *s = mo_lib_settings_of(options);
    moirai_graph *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made) {
        mo_graph_free(graph);
        return mo_fail_memory(err);
    }
    atomic_init(&made->references, 1);
    made->graph = graph;
    status = mo_lib_copy_text(path, &made->path, err);
    if (status == MO_OK)
        status = mo_lib_graph_keep_options(made, &s->prepare.read, err);
    if (status == MO_OK)
        status = mo_driver_load_formats(&s->prepare.load, &made->formats, err);
    if (status == MO_OK)
        status = mo_graph_digest(graph, &made->digest, err);
    if (status == MO_OK)
        status = mo_numeric_apply_phases(&made->formats, &made->graph, err);
    if (status != MO_OK) {
        moirai_graph_free(made);
        return status;
    }
    *wrapped = made;
    return MO_OK;
}

moirai_status moirai_graph_read(const char *path, const moirai_options *options,
                                moirai_graph **graph, moirai_error *err)
{
    mo_graph *read = NULL;
    mo_status status =
        mo_read_graph(path, &mo_lib_settings_of(options)->prepare.read, &read,
                      NULL, mo_lib_error(err));

    if (status == MO_OK)
        status =
            mo_lib_graph_make(read, path, options, graph, mo_lib_error(err));
    return mo_lib_status(status);
}

moirai_status moirai_graph_read_memory(const char *name, const void *data,
                                       size_t size,
                                       const moirai_options *options,
                                       moirai_graph **graph, moirai_error *err)
{
    mo_graph *read = NULL;
    mo_status status =
        mo_read_memory(name, data ? data : "", data ? size : 0,
                       &mo_lib_settings_of(options)->prepare.read, &read, NULL,
                       mo_lib_error(err));

    if (status == MO_OK)
        status =
            mo_lib_graph_make(read, name, options, graph, mo_lib_error(err));
    return mo_lib_status(status);
}

void moirai_graph_free(moirai_graph *graph)
{
    if (!graph || !mo_lib_release(&graph->references))
        return;
    moirai_graph_free(graph->fine);
    mo_graph_free(graph->graph);
    mo_coarsen_map_free(graph->map);
    free_copies(&graph->read.shapes);
    free_copies(&graph->read.values);
    free(graph->path);
    free(graph->fusion);
    free(graph);
}

static mo_status check_coarsen(const moirai_graph *graph,
                               const moirai_cluster *cluster, mo_error *err)
{
    if (graph->fine)
        return mo_fail(err, MO_E_USAGE,
                       "the graph is coarsened already; coarsen the fine one");
    if (!cluster && graph->graph->n_time_columns > 0)
        return mo_fail(err, MO_E_USAGE,
                       "the graph has measured times, which are combined for "
                       "devices; give the cluster");
    return MO_OK;
}

/* Takes over what *made has, also after a failure. */
static mo_status wrap_coarse(const moirai_graph *fine, const char *fusion,
                             const mo_coarsened *made, moirai_graph **coarse,
                             mo_error *err)
{
    moirai_graph *c = calloc(1, sizeof *c);

    if (!c) {
        mo_graph_free(made->graph);
        mo_coarsen_map_free(made->map);
        return mo_fail_memory(err);
    }
    atomic_init(&c->references, 1);
    c->fine = mo_lib_retain_graph(fine);
    c->graph = made->graph;
    c->map = made->map;
    c->formats = fine->formats;
    c->digest = fine->digest;
    c->has_rules = made->has_rules;
    c->rules_digest = made->rules_digest;
    if (mo_lib_copy_text(fusion, &c->fusion, err) != MO_OK ||
        mo_lib_copy_text(fine->path, &c->path, err) != MO_OK) {
        moirai_graph_free(c);
        return MO_E_MEMORY;
    }
    *coarse = c;
    return MO_OK;
}

moirai_status moirai_graph_coarsen(const moirai_graph *graph,
                                   const moirai_cluster *cluster,
                                   const moirai_options *options,
                                   moirai_graph **coarse, moirai_error *err)
{
    const char *fusion = mo_lib_settings_of(options)->prepare.fusion;
    const mo_driver_log logger = mo_lib_log(options);
    mo_error *e = mo_lib_error(err);
    mo_coarsened made;
    mo_status status = check_coarsen(graph, cluster, e);

    if (status == MO_OK && strcmp(fusion, "none") == 0)
        status = mo_fail(e, MO_E_USAGE, "fusion none leaves a graph as it is");
    if (status == MO_OK)
        status = mo_prepare_coarsen(fusion, graph->graph,
                                    cluster ? cluster->cluster : NULL, &logger,
                                    &made, e);
    if (status == MO_OK)
        status = wrap_coarse(graph, fusion, &made, coarse, e);
    return mo_lib_status(status);
}

int moirai_graph_n_ops(const moirai_graph *graph)
{
    return graph->graph->n_ops;
}

int moirai_graph_n_edges(const moirai_graph *graph)
{
    return graph->graph->n_edges;
}

static const mo_op *op_of(const moirai_graph *graph, int op)
{
    return op >= 0 && op < graph->graph->n_ops ? &graph->graph->ops[op] : NULL;
}

const char *moirai_graph_op_text(const moirai_graph *graph, int op,
                                 const char *key)
{
    const mo_op *o = op_of(graph, op);
    const mo_lib_op_key *k = mo_lib_op_key_find(key);

    return o && k && k->type == MO_LIB_OP_TEXT
               ? *(const char *const *) ((const char *) o + k->offset)
               : NULL;
}

double moirai_graph_op_number(const moirai_graph *graph, int op,
                              const char *key)
{
    const mo_op *o = op_of(graph, op);
    const mo_lib_op_key *k = mo_lib_op_key_find(key);

    if (!o || !k || k->type == MO_LIB_OP_TEXT)
        return MO_UNKNOWN;
    return k->type == MO_LIB_OP_DOUBLE
               ? *(const double *) ((const char *) o + k->offset)
               : (double) *(const int64_t *) ((const char *) o + k->offset);
}

int moirai_graph_find(const moirai_graph *graph, const char *name)
{
    int op = mo_graph_find(graph->graph, name);

    return op < graph->graph->n_ops ? op : -1;
}

int moirai_graph_edge(const moirai_graph *graph, int edge, int *from, int *to,
                      int64_t *bytes)
{
    const mo_edge *e;

    if (edge < 0 || edge >= graph->graph->n_edges)
        return -1;
    e = &graph->graph->edges[edge];
    if (from)
        *from = e->from;
    if (to)
        *to = e->to;
    if (bytes)
        *bytes = e->bytes;
    return 0;
}

int moirai_graph_coarse_op(const moirai_graph *graph, int op)
{
    if (!graph->map)
        return op_of(graph, op) ? op : -1;
    if (op < 0 || op >= graph->map->n_fine)
        return -1;
    return graph->map->coarse_of[op] >= 0 ? graph->map->coarse_of[op] : -1;
}

moirai_status moirai_graph_write(const moirai_graph *graph, const char *path,
                                 moirai_write_fn *write, void *context,
                                 moirai_error *err)
{
    mo_out *out = NULL;
    mo_status status = mo_phases_refuse(graph->graph, mo_lib_error(err));

    if (status == MO_OK)
        status =
            mo_lib_open_output(path, write, context, &out, mo_lib_error(err));
    if (status == MO_OK)
        mo_graphml_write(graph->graph, out);
    return mo_lib_status(mo_lib_close_output(out, status, mo_lib_error(err)));
}
