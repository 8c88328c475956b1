#include "coarsen/coarsen.h"

#include "coarsen/gcof.h"

mo_status mo_coarsen(const mo_graph *g, const mo_coarsen_options *options,
                     mo_graph **coarse, mo_map **map,
                     mo_coarsen_report *report, mo_error *err)
{
    mo_graph *clean = NULL, *fused = NULL;
    mo_map *cleaned = NULL, *fusing = NULL;
    mo_status status = mo_clean(g, options->clean, &clean, &cleaned,
                                &report->cleaned, err);

    if (status == MO_OK) {
        report->clean_ops = clean->n_ops;
        report->clean_edges = clean->n_edges;
        status = mo_gcof(clean, options->rules, options->fused_us,
                         options->context, &fused, &fusing, err);
    }
    if (status == MO_OK)
        status = mo_map_compose(cleaned, fusing, map, err);
    mo_graph_free(clean);
    mo_map_free(cleaned);
    mo_map_free(fusing);
    if (status == MO_OK)
        *coarse = fused;
    else
        mo_graph_free(fused);
    return status;
}
