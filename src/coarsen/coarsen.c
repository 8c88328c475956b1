/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/coarsen.h"

#include <stdlib.h>
#include <string.h>

#include "coarsen/gcof.h"
#include "graph/phases.h"

/* Fuses ops of clean, the target of the map cleaned; *map composes both. */
static mo_status fuse(const mo_graph *clean, const mo_coarsen_map *cleaned,
                      const mo_gcof_options *how, mo_graph **coarse,
                      mo_coarsen_map **map, mo_error *err)
{
    mo_graph *fused = NULL;
    mo_coarsen_map *fusing = NULL;
    mo_status status = mo_gcof(clean, how, &fused, &fusing, err);

    if (status == MO_OK)
        status = mo_coarsen_map_compose(cleaned, fusing, map, err);
    mo_coarsen_map_free(fusing);
    if (status == MO_OK)
        *coarse = fused;
    else
        mo_graph_free(fused);
    return status;
}

/* Maps the ops of a workload as maps those of its phases.  Gates are where they
 * are needed. */
static mo_status map_phases(const mo_graph *fine, const mo_graph *coarse,
                            mo_coarsen_map *const *maps, mo_coarsen_map **map,
                            mo_error *err)
{
    const mo_phases *from = fine->phases, *to = coarse->phases;
    mo_coarsen_map *made = NULL;
    mo_status status =
        mo_coarsen_map_new(fine->n_ops, coarse->n_ops, &made, err);

    for (int i = 0; i < fine->n_ops && status == MO_OK; i++) {
        int p = from->phase_of[i];
        int target = from->source[i] == MO_UNKNOWN
                         ? MO_COARSEN_MAP_REPLICATED
                         : maps[p]->coarse_of[from->source[i]];

        made->coarse_of[i] = target >= 0 ? to->items[p].op_of[target] : target;
    }
    if (status != MO_OK)
        return status;
    mo_coarsen_map_gather(made);
    *map = made;
    return MO_OK;
}

/* Coarsens the phases of a workload, and composes them again. */
static mo_status coarsen_phases(const mo_graph *g,
                                const mo_coarsen_options *options,
                                mo_graph **coarse, mo_coarsen_map **map,
                                mo_coarsen_report *report, mo_error *err)
{
    int n = g->phases->n;
    mo_phase *made = calloc((size_t) n, sizeof *made);
    mo_coarsen_map **maps = calloc((size_t) n, sizeof *maps);
    mo_status status = made && maps ? MO_OK : mo_fail_memory(err);

    memset(report, 0, sizeof *report);
    for (int p = 0; p < n && status == MO_OK; p++) {
        const mo_phase *from = &g->phases->items[p];
        mo_coarsen_report its;

        made[p] = (mo_phase){ .name = from->name, .weight = from->weight };
        status = mo_coarsen(from->graph, options, &made[p].graph, &maps[p],
                            &its, err);
        if (status != MO_OK)
            break;
        for (int k = 0; k < MO_CLEAN_PASSES; k++)
            report->cleaned.removed[k] += its.cleaned.removed[k];
        report->clean_ops += its.clean_ops;
        report->clean_edges += its.clean_edges;
    }
    if (status == MO_OK)
        status = mo_phases_compose(g->name, made, n, coarse, err);
    if (status == MO_OK) {
        status = map_phases(g, *coarse, maps, map, err);
        if (status != MO_OK)
            mo_graph_free(*coarse);
    } else {
        for (int p = 0; p < n && made; p++)
            mo_graph_free(made[p].graph);
    }
    for (int p = 0; p < n && maps; p++)
        mo_coarsen_map_free(maps[p]);
    free(maps);
    free(made);
    return status;
}

mo_status mo_coarsen(const mo_graph *g, const mo_coarsen_options *options,
                     mo_graph **coarse, mo_coarsen_map **map,
                     mo_coarsen_report *report, mo_error *err)
{
    mo_gcof_options how = { options->rules, options->fused_us, options->context,
                            (options->clean & MO_CLEAN_PARALLEL) != 0 };
    mo_graph *clean = NULL;
    mo_coarsen_map *cleaned = NULL;
    mo_status status;

    if (g->phases)
        return coarsen_phases(g, options, coarse, map, report, err);
    status = mo_clean_unless_noop(g, options->clean, &clean, &cleaned,
                                  &report->cleaned, err);
    if (status != MO_OK)
        return status;
    report->clean_ops = clean ? clean->n_ops : g->n_ops;
    report->clean_edges = clean ? clean->n_edges : g->n_edges;
    status = clean ? fuse(clean, cleaned, &how, coarse, map, err)
                   : mo_gcof(g, &how, coarse, map, err);
    mo_graph_free(clean);
    mo_coarsen_map_free(cleaned);
    return status;
}
