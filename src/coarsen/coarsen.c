/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/coarsen.h"

#include "coarsen/gcof.h"

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

mo_status mo_coarsen(const mo_graph *g, const mo_coarsen_options *options,
                     mo_graph **coarse, mo_coarsen_map **map,
                     mo_coarsen_report *report, mo_error *err)
{
    mo_gcof_options how = { options->rules, options->fused_us, options->context,
                            (options->clean & MO_CLEAN_PARALLEL) != 0 };
    mo_graph *clean = NULL;
    mo_coarsen_map *cleaned = NULL;
    mo_status status = mo_clean_unless_noop(g, options->clean, &clean, &cleaned,
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
