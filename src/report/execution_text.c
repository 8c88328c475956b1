/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/utf8.h"
#include "report/execution.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200 };

static void put_us(int64_t ns, mo_out *out)
{
    mo_out_double(out, (double) ns / 1000);
    mo_out_text(out, " us");
}

static void put_line(const char *what, int64_t ns, mo_out *out)
{
    mo_out_printf(out, "%-12s", what);
    put_us(ns, out);
}

static void put_makespan(const mo_report_execution *e, mo_out *out)
{
    put_line("predicted", e->predicted_ns, out);
    mo_out_text(out, e->trusted ? "\n" : ", by a guess of the device\n");
    if (!e->measured)
        return;
    put_line("measured", e->measured_ns, out);
    if (e->runs == 1)
        mo_out_text(out, e->warm_ups > 0 ? ", one run" : ", one run, cold");
    else
        mo_out_printf(out, ", median of %d runs after %d, spread ", e->runs,
                      e->warm_ups);
    if (e->runs > 1)
        put_us(e->spread_ns, out);
    if (e->trusted && e->predicted_ns > 0)
        mo_out_printf(
            out, "; %+.1f %% against the prediction",
            100 * ((double) e->measured_ns / (double) e->predicted_ns - 1));
    mo_out_text(out, "\n");
}

static void put_ratio(const char *what, double ratio, mo_out *out)
{
    if (!isnan(ratio))
        mo_out_printf(out, "  %-48s%6.1f %%\n", what, 100 * ratio);
}

static void put_ratios(const mo_report_execution *e, mo_out *out)
{
    if (!e->measured)
        return;
    put_ratio("longest chain of measured times / makespan", e->path_ratio, out);
    put_ratio("calls / time that devices were at work", e->kernel_ratio, out);
    put_ratio("time of transfers that nobody waited for", e->hidden_ratio, out);
}

static void put_transfers(const mo_report_execution *e, mo_out *out)
{
    char size[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%d, %s\n", "transfers", e->n_transfers,
                  mo_format_bytes((double) e->sent_bytes, size));
}

static void put_device(const mo_report_execution *e,
                       const mo_report_execution_device *d, mo_out *out)
{
    char id[NAME_ROOM], weights[MO_FORMAT_SIZE], values[MO_FORMAT_SIZE];
    char most[MO_FORMAT_SIZE], all[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%6d ops",
                  mo_utf8_escape_controls(id, sizeof id, d->id), d->items);
    if (d->threads == 0)
        mo_out_printf(out, "  on %s", d->backend);
    else
        mo_out_printf(out, "  %2d thread%s", d->threads,
                      d->threads > 1 ? "s" : " ");
    if (d->sms > 0)
        mo_out_printf(out, ", %3d SMs", d->sms);
    mo_out_printf(out, "  weights %s, values %s",
                  mo_format_bytes((double) d->weight_bytes, weights),
                  mo_format_bytes((double) d->arena_bytes, values));
    if (d->allocated_bytes >= 0)
        mo_out_printf(out, ", allocated %s",
                      mo_format_bytes((double) d->allocated_bytes, all));
    if (d->capacity_bytes < INT64_MAX)
        mo_out_printf(out, " of %s",
                      mo_format_bytes((double) d->capacity_bytes, most));
    if (e->measured && d->busy_ns >= 0 && e->measured_ns > 0)
        mo_out_printf(out, ", %.1f %% busy",
                      100 * (double) d->busy_ns / (double) e->measured_ns);
    mo_out_text(out, "\n");
}

static void put_classes(const mo_report_execution *e, mo_out *out)
{
    mo_out_printf(out, "\n%-16s%8s%16s%16s\n", "class", "ops", "predicted us",
                  e->measured ? "measured us" : "");
    for (int i = 0; i < e->n_classes; i++) {
        const mo_report_execution_class *c = &e->classes[i];

        mo_out_printf(out, "%-16s%8d%16.1f", c->name, c->items,
                      (double) c->predicted_ns / 1000);
        if (e->measured)
            mo_out_printf(out, "%16.1f", (double) c->measured_ns / 1000);
        mo_out_text(out, "\n");
    }
}

static void put_outputs(const mo_report_execution *e, mo_out *out)
{
    char name[NAME_ROOM];

    mo_out_text(out, "\n");
    for (int i = 0; i < e->n_outputs; i++) {
        const mo_report_execution_output *o = &e->outputs[i];

        mo_out_printf(out, "output %-4d %s %s", i,
                      mo_utf8_escape_controls(name, sizeof name, o->name),
                      o->type);
        if (o->file)
            mo_out_printf(out, " -> %s",
                          mo_utf8_escape_controls(name, sizeof name, o->file));
        if (!isnan(o->error))
            mo_out_printf(out, "  error %.3g", o->error);
        mo_out_text(out, "\n");
    }
}

static void put_verdict(const mo_report_execution *e, mo_out *out)
{
    char with[NAME_ROOM];

    if (!e->compared_with)
        return;
    mo_out_printf(out, "%s %s: largest error %.3g, tolerance %g\n",
                  e->max_error <= e->tolerance ? "equal to" : "DIFFERS from",
                  mo_utf8_escape_controls(with, sizeof with, e->compared_with),
                  e->max_error, e->tolerance);
}

void mo_report_execution_text(const mo_report_execution *e, mo_out *out)
{
    put_makespan(e, out);
    put_ratios(e, out);
    mo_out_printf(out, "%-12s%s\n", "precision", e->precision);
    if (e->emulated)
        mo_out_printf(out, "%-12s%s\n", "emulated",
                      "devices are parts of one GPU; its memory bandwidth, L2 "
                      "cache and clocks are shared, links are held back");
    put_transfers(e, out);
    mo_out_text(out, "\n");
    for (int k = 0; k < e->n_devices; k++)
        put_device(e, &e->devices[k], out);
    put_classes(e, out);
    put_outputs(e, out);
    put_verdict(e, out);
}
