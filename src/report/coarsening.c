/* SPDX-License-Identifier: Apache-2.0 */
#include "report/coarsening.h"

#include <string.h>

#include "base/json_writer.h"
#include "base/utf8.h"

enum { SHOWN_SIZE = 128 }; /* of a name; longer ones end in "..." */

static void put_counts(const mo_report_coarsening *c, mo_out *out)
{
    char text[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, c->file));
    mo_out_printf(out, "%-12s%d, cleaned %d, fused %d", "ops", c->before->ops,
                  c->report->clean_ops, c->after->ops);
    if (c->before->ops > 0)
        mo_out_printf(out, " (%.1f %%)",
                      100.0 * c->after->ops / c->before->ops);
    mo_out_printf(out, "\n%-12s%d, cleaned %d, fused %d\n", "edges",
                  c->before->edges, c->report->clean_edges, c->after->edges);
    mo_out_printf(out, "%-12s%d, now %d; at most %d ops between, now %d\n",
                  "clean cuts", c->before->clean_cuts, c->after->clean_cuts,
                  c->before->largest_segment, c->after->largest_segment);
}

static void put_passes(const mo_report_coarsening *c, mo_out *out)
{
    mo_out_text(out, "\ncleaning took out\n");
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        mo_out_printf(out, "%12d  %-10s %s\n", c->report->cleaned.removed[k],
                      mo_clean_passes[k].name, mo_clean_passes[k].help);
}

static void put_fused(const mo_report_coarsening *c, mo_out *out)
{
    char text[SHOWN_SIZE];
    int n = 0;

    mo_out_printf(out, "\nfused by the rules of %s\n",
                  mo_utf8_escape_controls(text, sizeof text, c->fusion));
    for (int i = 0; i < c->after->n_types; i++) {
        const mo_type_count *type = &c->after->types[i];

        if (!strchr(type->type, '+'))
            continue;
        mo_out_printf(out, "%12d  %s\n", type->count,
                      mo_utf8_escape_controls(text, sizeof text, type->type));
        n++;
    }
    if (n == 0)
        mo_out_text(out, "     nothing\n");
}

void mo_report_coarsening_text(const mo_report_coarsening *coarsening,
                               mo_out *out)
{
    put_counts(coarsening, out);
    put_passes(coarsening, out);
    put_fused(coarsening, out);
}

static void json_counts(const mo_report_coarsening *c, mo_json_writer *w)
{
    mo_json_put_int(w, "ops", c->before->ops);
    mo_json_put_int(w, "clean_ops", c->report->clean_ops);
    mo_json_put_int(w, "coarse_ops", c->after->ops);
    mo_json_put_int(w, "edges", c->before->edges);
    mo_json_put_int(w, "clean_edges", c->report->clean_edges);
    mo_json_put_int(w, "coarse_edges", c->after->edges);
    mo_json_put_int(w, "clean_cuts", c->after->clean_cuts);
    mo_json_put_int(w, "largest_segment", c->after->largest_segment);
}

void mo_report_coarsening_json(const mo_report_coarsening *coarsening,
                               mo_out *out)
{
    const mo_report_coarsening *c = coarsening;
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", c->file);
    json_counts(c, &w);
    mo_json_put_text(&w, "fusion", c->fusion);
    mo_json_begin_object(&w, "cleaned", MO_JSON_INLINE);
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        mo_json_put_int(&w, mo_clean_passes[k].name,
                        c->report->cleaned.removed[k]);
    mo_json_end(&w);
    mo_json_begin_object(&w, "fused", MO_JSON_LINES);
    for (int i = 0; i < c->after->n_types; i++)
        if (strchr(c->after->types[i].type, '+'))
            mo_json_put_int(&w, c->after->types[i].type,
                            c->after->types[i].count);
    mo_json_end(&w);
    mo_json_end(&w);
}
