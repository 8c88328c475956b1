/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a runtime that places single ops. */
#include <stdlib.h>

#include "driver/place/place_runtime.h"

/* Ops that are not placed, and constants, are on the device of a reader. */
static void find_devices(const mo_problem *problem, const int *device,
                         int *by_op)
{
    const mo_graph *g = problem->fine;

    for (int i = g->n_ops - 1; i >= 0; i--) {
        int coarse = problem->map ? problem->map->coarse_of[i] : i;

        if (coarse >= 0)
            by_op[i] = device[coarse];
        else if (mo_graph_out_degree(g, i) > 0)
            by_op[i] = by_op[g->edges[g->out_start[i]].to];
    }
    for (int constants = 0; constants <= 1; constants++)
        for (int f = g->n_feeds - 1; f >= 0; f--)
            if ((g->feeds[f].to >= g->n_ops) == constants)
                by_op[g->feeds[f].from] = by_op[g->feeds[f].to];
}

mo_status mo_place_runtime_make_settings(const mo_runtime *runtime,
                                         const mo_problem *problem,
                                         const int *device, int **by_op,
                                         mo_runtime_settings *settings,
                                         mo_error *err)
{
    const mo_graph *g = problem->fine;

    *by_op =
        calloc((size_t) g->n_ops + (size_t) g->n_constants + 1, sizeof **by_op);
    if (!*by_op)
        return mo_fail_memory(err);
    find_devices(problem, device, *by_op);
    *settings = (mo_runtime_settings){
        .runtime = runtime,
        .ops = { .cluster = problem->cluster, .graph = g, .device = *by_op }
    };
    return MO_OK;
}

mo_status mo_place_runtime_write_ops(const mo_runtime *runtime,
                                     const mo_problem *problem,
                                     const int *device, mo_out *out,
                                     mo_error *err)
{
    mo_json_writer w = { .out = out };
    mo_runtime_settings settings;
    int *by_op;
    mo_status status = mo_place_runtime_make_settings(runtime, problem, device,
                                                      &by_op, &settings, err);

    if (status == MO_OK)
        runtime->write_ops(&settings.ops, NULL, &w);
    free(by_op);
    return status;
}
