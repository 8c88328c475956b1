/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "report/model_size.h"

static void put_text(mo_out *out, const char *key, const char *value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_json(out, value);
    mo_out_text(out, ",\n");
}

static void put_int(mo_out *out, const char *key, int64_t value)
{
    mo_out_printf(out, "  \"%s\": %" PRId64 ",\n", key, value);
}

static void put_double(mo_out *out, const char *key, double value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_double(out, value);
    mo_out_text(out, ",\n");
}

static void put_what(const mo_report_model_size *r, mo_out *out)
{
    const mo_frame *frame = r->model->frame;
    const mo_instance *x = frame->x;

    put_text(out, "graph", r->graph);
    put_text(out, "cluster", r->cluster);
    put_int(out, "ops", r->ops);
    put_int(out, "coarse_ops", x->n);
    put_int(out, "flows", x->n_flows);
    put_int(out, "devices", x->n_devices);
    put_text(out, "formulation", r->model->formulation->name);
    put_text(out, "congestion", mo_congestion_names[frame->regime.congestion]);
    put_text(out, "tensors", mo_tensors_names[frame->regime.tensors]);
    put_text(out, "memory", mo_memory_names[frame->regime.memory]);
}

static void put_sizes(const mo_report_model_size *r, mo_out *out)
{
    const mo_model_counts *c = r->count;

    put_int(out, "rows", c->rows);
    put_int(out, "columns", c->binaries + c->continuous);
    put_int(out, "binaries", c->binaries);
    put_int(out, "nonzeros", c->nonzeros);
    put_double(out, "least_coefficient", c->least_coef);
    put_double(out, "largest_coefficient", c->largest_coef);
    put_double(out, "least_big_m", c->least_big_m);
    put_double(out, "largest_big_m", c->largest_big_m);
    put_int(out, "lp_bytes", c->lp_bytes + r->heading_bytes);
    put_int(out, "mps_bytes", c->mps_bytes + r->heading_bytes);
}

static void put_families(const mo_model_counts *c, mo_out *out)
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
    put_what(report, out);
    put_double(out, "unit_us", (double) frame->unit_ns / 1000);
    put_double(out, "horizon_us", (double) frame->horizon_ns / 1000);
    put_text(out, "start",
             mo_model_has_start(report->model) ? "found" : "none");
    put_sizes(report, out);
    put_families(report->count, out);
    mo_out_text(out, "}\n");
}
