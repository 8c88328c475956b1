/* SPDX-License-Identifier: Apache-2.0 */
#include "report/execution.h"

#include <math.h>

#include "base/utf8.h"
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

/* --------------------------------------------------------------------- JSON */

static void json_key(mo_out *out, const char *key)
{
    mo_out_printf(out, ",\n  \"%s\": ", key);
}

static void json_text(mo_out *out, const char *key, const char *value)
{
    json_key(out, key);
    mo_out_json(out, value);
}

static void json_int(mo_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    mo_out_int(out, value);
}

static void json_us(mo_out *out, const char *key, int64_t ns)
{
    json_key(out, key);
    mo_out_double(out, (double) ns / 1000);
}

/* Infinity is written as the largest finite number. */
static void json_finite(mo_out *out, double value)
{
    mo_out_double(out, isinf(value) ? 1e308 : value);
}

static void json_known(mo_out *out, const char *key, double value)
{
    if (isnan(value))
        return;
    json_key(out, key);
    json_finite(out, value);
}

static void json_what(const mo_report_execution *e, mo_out *out)
{
    mo_out_text(out, "{\n  \"graph\": ");
    mo_out_json(out, e->graph);
    json_text(out, "cluster", e->cluster);
    json_int(out, "ops", e->ops);
    json_int(out, "coarse_ops", e->coarse_ops);
    json_int(out, "edges", e->edges);
    json_int(out, "devices", e->n_devices);
    json_us(out, "makespan_us", e->predicted_ns);
}

static void json_emulation(const mo_report_execution *e, mo_out *out)
{
    json_key(out, "emulated");
    mo_out_text(out, "{\"parts\": [");
    for (int k = 0; k < e->n_devices; k++) {
        mo_out_text(out, k > 0 ? ", " : "");
        mo_out_int(out, e->devices[k].sms);
    }
    mo_out_text(out, "], \"links\": \"held\", \"shared\": "
                     "[\"memory\", \"memory bandwidth\", \"L2 cache\", "
                     "\"clocks\"]}");
}

static void json_times(const mo_report_execution *e, mo_out *out)
{
    if (e->measured) {
        json_us(out, "measured_us", e->measured_ns);
        json_us(out, "measured_spread_us", e->spread_ns);
    }
    json_us(out, "predicted_us", e->predicted_ns);
    json_known(out, "max_error", e->max_error);
    json_text(out, "transport", e->transport);
    json_int(out, "ranks", e->n_ranks);
    json_text(out, "precision", e->precision);
    if (e->emulated)
        json_emulation(e, out);
    if (e->measured) {
        json_int(out, "runs", e->runs);
        json_int(out, "warm_ups", e->warm_ups);
    }
    json_known(out, "path_ratio", e->path_ratio);
    json_known(out, "kernel_ratio", e->kernel_ratio);
    json_known(out, "hidden_ratio", e->hidden_ratio);
    json_int(out, "transfers", e->n_transfers);
    json_int(out, "sent_bytes", e->sent_bytes);
}

/* Writes a further member of an object on one line. */
static void json_member(mo_out *out, const char *key, int64_t value)
{
    mo_out_printf(out, ", \"%s\": ", key);
    mo_out_int(out, value);
}

static void json_device(const mo_report_execution_device *d, mo_out *out)
{
    mo_out_text(out, "{\"id\": ");
    mo_out_json(out, d->id);
    json_member(out, "ops", d->items);
    mo_out_text(out, ", \"backend\": ");
    mo_out_json(out, d->backend);
    json_member(out, "threads", d->threads);
    if (d->sms > 0)
        json_member(out, "sms", d->sms);
    json_member(out, "weight_bytes", d->weight_bytes);
    json_member(out, "value_bytes", d->arena_bytes);
    if (d->allocated_bytes >= 0) {
        json_member(out, "workspace_bytes", d->workspace_bytes);
        json_member(out, "allocated_bytes", d->allocated_bytes);
    }
    if (d->capacity_bytes < INT64_MAX)
        json_member(out, "capacity_bytes", d->capacity_bytes);
    if (d->busy_ns >= 0) {
        mo_out_text(out, ", \"busy_us\": ");
        mo_out_double(out, (double) d->busy_ns / 1000);
    }
    mo_out_text(out, "}");
}

static void json_class(const mo_report_execution *e,
                      const mo_report_execution_class *c, mo_out *out)
{
    mo_out_text(out, "{\"class\": ");
    mo_out_json(out, c->name);
    json_member(out, "ops", c->items);
    mo_out_text(out, ", \"predicted_us\": ");
    mo_out_double(out, (double) c->predicted_ns / 1000);
    if (e->measured) {
        mo_out_text(out, ", \"measured_us\": ");
        mo_out_double(out, (double) c->measured_ns / 1000);
    }
    mo_out_text(out, "}");
}

static void json_output(const mo_report_execution_output *o, mo_out *out)
{
    mo_out_text(out, "{\"name\": ");
    mo_out_json(out, o->name);
    mo_out_text(out, ", \"type\": ");
    mo_out_json(out, o->type);
    if (o->file) {
        mo_out_text(out, ", \"file\": ");
        mo_out_json(out, o->file);
    }
    if (!isnan(o->error)) {
        mo_out_text(out, ", \"error\": ");
        json_finite(out, o->error);
    }
    mo_out_text(out, "}");
}

static void json_between(mo_out *out, int i)
{
    mo_out_text(out, i > 0 ? ",\n    " : "\n    ");
}

void mo_report_execution_json(const mo_report_execution *e, mo_out *out)
{
    json_what(e, out);
    json_times(e, out);
    json_key(out, "by_device");
    mo_out_text(out, "[");
    for (int k = 0; k < e->n_devices; k++) {
        json_between(out, k);
        json_device(&e->devices[k], out);
    }
    mo_out_text(out, "\n  ],\n  \"by_class\": [");
    for (int i = 0; i < e->n_classes; i++) {
        json_between(out, i);
        json_class(e, &e->classes[i], out);
    }
    mo_out_text(out, "\n  ],\n  \"outputs\": [");
    for (int i = 0; i < e->n_outputs; i++) {
        json_between(out, i);
        json_output(&e->outputs[i], out);
    }
    mo_out_text(out, "\n  ]\n}\n");
}
