/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model_size.h"

#include <inttypes.h>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "models/sink/scale.h"
#include "report/format_units.h"

enum { SHOWN_SIZE = 128 }; /* of a name; longer ones end in "..." */

static void put_what(const mo_report_model_size *r, mo_out *out)
{
    const mo_frame *frame = r->model->frame;
    char text[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, r->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_escape_controls(text, sizeof text, r->cluster));
    mo_out_printf(out, "%-12s%d", "ops", r->ops);
    if (frame->x->n != r->ops)
        mo_out_printf(out, ", coarsened %d", frame->x->n);
    mo_out_printf(out, "\n%-12s%d\n", "devices", frame->x->n_devices);
    mo_out_printf(out, "%-12s%s%s\n", "formulation",
                  r->model->formulation->name,
                  frame->closure ? " --closure" : "");
    mo_out_printf(out, "%-12s%s\n", "congestion",
                  mo_congestion_names[frame->regime.congestion]);
    mo_out_printf(out, "%-12s%s\n", "tensors",
                  mo_tensors_names[frame->regime.tensors]);
    mo_out_printf(out, "%-12s%s\n", "memory",
                  mo_memory_names[frame->regime.memory]);
}

static void put_times(const mo_model *model, mo_out *out)
{
    const mo_frame *frame = model->frame;
    char text[MO_FORMAT_SIZE];

    mo_scale_unit_text(frame->unit_ns, text);
    mo_out_printf(out, "%-12s%s\n", "time unit", text);
    mo_out_printf(out, "%-12s%s%s\n", "horizon",
                  mo_format_us((double) frame->horizon_ns / 1000, text),
                  mo_model_has_start(model) ? "" : ", no start found");
}

static void put_range(const char *what, double least, double largest,
                      mo_out *out)
{
    mo_out_printf(out, "%-12s", what);
    if (largest == 0) {
        mo_out_text(out, "none\n");
        return;
    }
    mo_out_double(out, least);
    mo_out_text(out, " to ");
    mo_out_double(out, largest);
    mo_out_char(out, '\n');
}

static void put_sizes(const mo_report_model_size *r, mo_out *out)
{
    const mo_model_counts *c = r->count;
    char text[MO_FORMAT_SIZE];

    mo_out_printf(out, "\n%-12s%" PRId64 "\n", "rows", c->rows);
    mo_out_printf(
        out, "%-12s%" PRId64 ", %" PRId64 " binary, %" PRId64 " continuous\n",
        "columns", c->binaries + c->continuous, c->binaries, c->continuous);
    mo_out_printf(out, "%-12s%" PRId64 "\n", "non-zeros", c->nonzeros);
    put_range("coefficient", c->least_coef, c->largest_coef, out);
    put_range("big-M", c->least_big_m, c->largest_big_m, out);
    mo_out_printf(
        out, "%-12s%s\n", "as LP",
        mo_format_bytes((double) (c->lp_bytes + r->heading_bytes), text));
    mo_out_printf(
        out, "%-12s%s\n", "as MPS",
        mo_format_bytes((double) (c->mps_bytes + r->heading_bytes), text));
}

void mo_report_model_size_text(const mo_report_model_size *report, mo_out *out)
{
    const mo_model_counts *c = report->count;

    put_what(report, out);
    put_times(report->model, out);
    put_sizes(report, out);
    mo_out_text(out, "\nrows by family\n");
    for (int i = 0; i < c->n_families; i++)
        mo_out_printf(out, "%12" PRId64 "  %s\n", c->family[i].rows,
                      c->family[i].name);
}

static void json_what(const mo_report_model_size *r, mo_json_writer *w)
{
    const mo_frame *frame = r->model->frame;
    const mo_instance *x = frame->x;

    mo_json_put_text(w, "graph", r->graph);
    mo_json_put_text(w, "cluster", r->cluster);
    mo_json_put_int(w, "ops", r->ops);
    mo_json_put_int(w, "coarse_ops", x->n);
    mo_json_put_int(w, "flows", x->n_flows);
    mo_json_put_int(w, "devices", x->n_devices);
    mo_json_put_text(w, "formulation", r->model->formulation->name);
    mo_json_put_text(w, "congestion",
                     mo_congestion_names[frame->regime.congestion]);
    mo_json_put_text(w, "tensors", mo_tensors_names[frame->regime.tensors]);
    mo_json_put_text(w, "memory", mo_memory_names[frame->regime.memory]);
    mo_json_put_us(w, "unit_us", frame->unit_ns);
    mo_json_put_us(w, "horizon_us", frame->horizon_ns);
    mo_json_put_text(w, "start",
                     mo_model_has_start(r->model) ? "found" : "none");
}

void mo_report_model_size_json(const mo_report_model_size *report, mo_out *out)
{
    const mo_model_counts *c = report->count;
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    json_what(report, &w);
    mo_json_put_int(&w, "rows", c->rows);
    mo_json_put_int(&w, "columns", c->binaries + c->continuous);
    mo_json_put_int(&w, "binaries", c->binaries);
    mo_json_put_int(&w, "nonzeros", c->nonzeros);
    mo_json_put_double(&w, "least_coefficient", c->least_coef);
    mo_json_put_double(&w, "largest_coefficient", c->largest_coef);
    mo_json_put_double(&w, "least_big_m", c->least_big_m);
    mo_json_put_double(&w, "largest_big_m", c->largest_big_m);
    mo_json_put_int(&w, "lp_bytes", c->lp_bytes + report->heading_bytes);
    mo_json_put_int(&w, "mps_bytes", c->mps_bytes + report->heading_bytes);
    mo_json_begin_object(&w, "families", MO_JSON_INLINE);
    for (int i = 0; i < c->n_families; i++)
        mo_json_put_int(&w, c->family[i].name, c->family[i].rows);
    mo_json_end(&w);
    mo_json_end(&w);
}
