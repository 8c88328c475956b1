/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model_size.h"

#include <inttypes.h>

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

/* --------------------------------------------------------------------- JSON */

static void json_text(mo_out *out, const char *key, const char *value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_json(out, value);
    mo_out_text(out, ",\n");
}

static void json_int(mo_out *out, const char *key, int64_t value)
{
    mo_out_printf(out, "  \"%s\": %" PRId64 ",\n", key, value);
}

static void json_double(mo_out *out, const char *key, double value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_double(out, value);
    mo_out_text(out, ",\n");
}

static void json_what(const mo_report_model_size *r, mo_out *out)
{
    const mo_frame *frame = r->model->frame;
    const mo_instance *x = frame->x;

    json_text(out, "graph", r->graph);
    json_text(out, "cluster", r->cluster);
    json_int(out, "ops", r->ops);
    json_int(out, "coarse_ops", x->n);
    json_int(out, "flows", x->n_flows);
    json_int(out, "devices", x->n_devices);
    json_text(out, "formulation", r->model->formulation->name);
    json_text(out, "congestion", mo_congestion_names[frame->regime.congestion]);
    json_text(out, "tensors", mo_tensors_names[frame->regime.tensors]);
    json_text(out, "memory", mo_memory_names[frame->regime.memory]);
}

static void json_sizes(const mo_report_model_size *r, mo_out *out)
{
    const mo_model_counts *c = r->count;

    json_int(out, "rows", c->rows);
    json_int(out, "columns", c->binaries + c->continuous);
    json_int(out, "binaries", c->binaries);
    json_int(out, "nonzeros", c->nonzeros);
    json_double(out, "least_coefficient", c->least_coef);
    json_double(out, "largest_coefficient", c->largest_coef);
    json_double(out, "least_big_m", c->least_big_m);
    json_double(out, "largest_big_m", c->largest_big_m);
    json_int(out, "lp_bytes", c->lp_bytes + r->heading_bytes);
    json_int(out, "mps_bytes", c->mps_bytes + r->heading_bytes);
}

static void json_families(const mo_model_counts *c, mo_out *out)
{
    mo_out_text(out, "  \"families\": {");
    for (int i = 0; i < c->n_families; i++) {
        mo_out_text(out, i ? ", " : "");
        mo_out_json(out, c->family[i].name);
        mo_out_printf(out, ": %" PRId64, c->family[i].rows);
    }
    mo_out_text(out, "}\n");
}

void mo_report_model_size_json(const mo_report_model_size *report, mo_out *out)
{
    const mo_frame *frame = report->model->frame;

    mo_out_text(out, "{\n");
    json_what(report, out);
    json_double(out, "unit_us", (double) frame->unit_ns / 1000);
    json_double(out, "horizon_us", (double) frame->horizon_ns / 1000);
    json_text(out, "start",
             mo_model_has_start(report->model) ? "found" : "none");
    json_sizes(report, out);
    json_families(report->count, out);
    mo_out_text(out, "}\n");
}
