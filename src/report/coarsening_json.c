/* SPDX-License-Identifier: Apache-2.0 */
#include "report/coarsening.h"

#include <string.h>

static void put_cleaned(const mo_report_coarsening *c, mo_out *out)
{
    mo_out_text(out, "  \"cleaned\": {");
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        mo_out_printf(out, "%s\"%s\": %d", k ? ", " : "",
                      mo_clean_passes[k].name, c->report->cleaned.removed[k]);
    mo_out_text(out, "},\n");
}

static void put_fused(const mo_report_coarsening *c, mo_out *out)
{
    int n = 0;

    mo_out_text(out, "  \"fused\": {");
    for (int i = 0; i < c->after->n_types; i++) {
        if (!strchr(c->after->types[i].type, '+'))
            continue;
        mo_out_text(out, n++ ? ",\n    " : "\n    ");
        mo_out_json(out, c->after->types[i].type);
        mo_out_printf(out, ": %d", c->after->types[i].count);
    }
    mo_out_text(out, n ? "\n  }\n" : "}\n");
}

void mo_report_coarsening_json(const mo_report_coarsening *coarsening,
                               mo_out *out)
{
    const mo_report_coarsening *c = coarsening;

    mo_out_text(out, "{\n  \"graph\": ");
    mo_out_json(out, c->file);
    mo_out_printf(out,
                  ",\n  \"ops\": %d,\n  \"clean_ops\": %d,\n"
                  "  \"coarse_ops\": %d,\n",
                  c->before->ops, c->report->clean_ops, c->after->ops);
    mo_out_printf(out,
                  "  \"edges\": %d,\n  \"clean_edges\": %d,\n"
                  "  \"coarse_edges\": %d,\n",
                  c->before->edges, c->report->clean_edges, c->after->edges);
    mo_out_printf(out, "  \"clean_cuts\": %d,\n  \"largest_segment\": %d,\n",
                  c->after->clean_cuts, c->after->largest_segment);
    mo_out_text(out, "  \"fusion\": ");
    mo_out_json(out, c->fusion);
    mo_out_text(out, ",\n");
    put_cleaned(c, out);
    put_fused(c, out);
    mo_out_text(out, "}\n");
}
