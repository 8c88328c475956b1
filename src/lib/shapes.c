/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "driver/exec/shape_job.h"
#include "ingest/read.h"

mo_status mo_lib_shape_append(const char *name, const moirai_tensor *input,
                              mo_path_list *shapes, mo_error *err)
{
    char dims[MO_SHAPE_TEXT_SIZE + 1];
    mo_shape shape = { .rank = input->rank };

    if (input->rank < 0 || input->rank > MO_MAX_RANK)
        return mo_fail(err, MO_E_INPUT,
                       "input '%.80s' of rank %d; give 0 to %d", name,
                       input->rank, MO_MAX_RANK);
    for (int d = 0; d < input->rank; d++)
        shape.dims[d] = input->dims[d];
    dims[mo_shape_write(&shape, dims)] = '\0';
    return mo_path_list_append(shapes, mo_path_format("%s=%s", name, dims),
                               err);
}

static mo_status read_graph(const moirai_graph *fine,
                            const mo_path_list *shapes,
                            const moirai_options *options, moirai_graph **graph,
                            mo_error *err)
{
    const mo_read_options read = {
        .values = fine->read.values,
        .hints = { .items = (const char **) (uintptr_t) shapes->paths,
                   .count = shapes->n },
    };
    mo_graph *made = NULL;
    mo_error why = { 0 };
    mo_status status = mo_read_graph(fine->path, &read, &made, NULL, &why);

    status = mo_exec_shape_check(made, shapes, &why, err);
    if (status == MO_OK)
        return mo_lib_graph_make(made, fine->path, options, graph, err);
    mo_graph_free(made);
    return status;
}

static mo_status place_by_name(const moirai_placement *from,
                               const moirai_instance *x,
                               moirai_placement **placement, mo_error *err)
{
    const mo_review old = mo_lib_instance_review(from->instance);
    const mo_review new = mo_lib_instance_review(x);
    int *device = calloc((size_t) x->instance->n + 1, sizeof *device);
    mo_status status =
        device ? mo_exec_shape_devices(&old.problem,
                                       from->evaluation.schedule->device,
                                       &new.problem, device, err)
               : mo_fail_memory(err);

    if (status == MO_OK)
        status = (mo_status) moirai_placement_new(x, device, NULL, placement,
                                                  (moirai_error *) err);
    free(device);
    return status;
}

mo_status mo_lib_placement_at(const moirai_placement *placement,
                              const mo_path_list *shapes, moirai_placement **at,
                              mo_error *err)
{
    const moirai_instance *from = placement->instance;
    const moirai_graph *placed = from->graph;
    const moirai_graph *fine = placed->fine ? placed->fine : placed;
    moirai_error *e = (moirai_error *) err;
    moirai_options *options = NULL;
    moirai_graph *graph = NULL;
    moirai_instance *x = NULL;
    char formats[MO_NUMERIC_TEXT];
    mo_status status = (mo_status) moirai_options_new(&options, e);

    if (status == MO_OK) {
        mo_prepare_options *p = &options->settings.prepare;

        mo_numeric_write(&fine->formats, formats);
        p->load.formats = formats;
        p->load.cost = from->cost;
        p->fusion = placed->fine ? placed->fusion : "none";
        p->congestion = mo_congestion_names[from->regime.congestion];
        p->tensors = mo_tensors_names[from->regime.tensors];
        p->memory = mo_memory_names[from->regime.memory];
        status = read_graph(fine, shapes, options, &graph, err);
    }
    if (status == MO_OK)
        status = (mo_status) moirai_instance_new(graph, from->cluster,
                                                 from->profile, options, &x, e);
    if (status == MO_OK)
        status = place_by_name(placement, x, at, err);
    moirai_instance_free(x);
    moirai_graph_free(graph);
    moirai_options_free(options);
    return status;
}
