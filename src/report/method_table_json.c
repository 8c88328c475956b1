/* SPDX-License-Identifier: Apache-2.0 */
#include "report/method_table.h"

static void put_us(const char *key, int64_t ns, mo_out *out)
{
    mo_out_printf(out, ",\n    \"%s\": ", key);
    mo_out_double(out, (double) ns / 1000);
}

static void put_double(const char *key, double value, mo_out *out)
{
    mo_out_printf(out, ",\n    \"%s\": ", key);
    mo_out_double(out, value);
}

static void put_flag(const char *key, bool value, mo_out *out)
{
    mo_out_printf(out, ",\n    \"%s\": %s", key, value ? "true" : "false");
}

static void put_peak(const mo_report_methods *p,
                     const mo_report_method_row *row, mo_out *out)
{
    if (row->fullest == MO_FREE)
        return;
    mo_out_text(out, ",\n    \"fullest\": ");
    mo_out_json(out, p->x->device_ids[row->fullest]);
    mo_out_text(out, ",\n    \"peak_bytes\": ");
    mo_out_int(out, row->peak_bytes);
    mo_out_text(out, ",\n    \"capacity_bytes\": ");
    mo_out_int(out, p->x->capacity_bytes[row->fullest]);
}

static void put_placement(const mo_report_methods *p,
                          const mo_report_method_row *row, mo_out *out)
{
    put_us("makespan_us", row->makespan_ns, out);
    if (p->single != MO_FREE)
        put_us("best_single_us", p->single_ns, out);
    put_us("bound_us", p->bound_ns, out);
    if (mo_report_methods_has_gap(p, row))
        put_double("gap", mo_report_methods_gap(p, row), out);
    put_flag("optimal", row->fits && row->makespan_ns <= p->bound_ns, out);
    put_flag("fits", row->fits, out);
    put_peak(p, row, out);
    if (row->lower_ns > 0)
        put_us("proven_us", row->lower_ns, out);
    mo_out_printf(out, ",\n    \"rounds\": %d", row->rounds);
}

static void put_losses(const mo_report_methods *p, mo_out *out)
{
    mo_out_text(out, ",\n    \"without\": [");
    for (int k = 0; k < p->x->n_devices; k++) {
        mo_out_printf(out, "%s\n      {\"device\": ", k > 0 ? "," : "");
        mo_out_json(out, p->x->device_ids[k]);
        if (p->losses[k].why) {
            mo_out_text(out, ", \"why\": ");
            mo_out_json(out, p->losses[k].why);
        } else {
            mo_out_text(out, ", \"makespan_us\": ");
            mo_out_double(out, (double) p->losses[k].makespan_ns / 1000);
            mo_out_text(out, ", \"loss\": ");
            mo_out_double(out, mo_report_methods_loss(p, k));
        }
        mo_out_text(out, "}");
    }
    mo_out_text(out, "\n    ]");
}

void mo_report_methods_json(const mo_report_methods *p, mo_out *out)
{
    mo_out_text(out, "[");
    for (int i = 0; i < p->n; i++) {
        const mo_report_method_row *row = &p->rows[i];

        mo_out_printf(out, "%s\n  {\n    \"method\": ", i > 0 ? "," : "");
        mo_out_json(out, row->method);
        if (row->why) {
            mo_out_text(out, ",\n    \"why\": ");
            mo_out_json(out, row->why);
        } else {
            put_placement(p, row, out);
        }
        mo_out_printf(out, ",\n    \"seconds\": %.3f", row->seconds);
        if (i == 0 && p->losses && mo_report_methods_best(p))
            put_losses(p, out);
        mo_out_text(out, "\n  }");
    }
    mo_out_text(out, "\n]\n");
}
