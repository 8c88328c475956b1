/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "report/execution.h"

static void put_key(mo_out *out, const char *key)
{
    mo_out_printf(out, ",\n  \"%s\": ", key);
}

static void put_text(mo_out *out, const char *key, const char *value)
{
    put_key(out, key);
    mo_out_json(out, value);
}

static void put_int(mo_out *out, const char *key, int64_t value)
{
    put_key(out, key);
    mo_out_int(out, value);
}

static void put_us(mo_out *out, const char *key, int64_t ns)
{
    put_key(out, key);
    mo_out_double(out, (double) ns / 1000);
}

/* Infinity is written as the largest finite number. */
static void put_finite(mo_out *out, double value)
{
    mo_out_double(out, isinf(value) ? 1e308 : value);
}

static void put_known(mo_out *out, const char *key, double value)
{
    if (isnan(value))
        return;
    put_key(out, key);
    put_finite(out, value);
}

static void put_what(const mo_report_execution *e, mo_out *out)
{
    mo_out_text(out, "{\n  \"graph\": ");
    mo_out_json(out, e->graph);
    put_text(out, "cluster", e->cluster);
    put_int(out, "ops", e->ops);
    put_int(out, "coarse_ops", e->coarse_ops);
    put_int(out, "edges", e->edges);
    put_int(out, "devices", e->n_devices);
    put_us(out, "makespan_us", e->predicted_ns);
}

static void put_emulation(const mo_report_execution *e, mo_out *out)
{
    put_key(out, "emulated");
    mo_out_text(out, "{\"parts\": [");
    for (int k = 0; k < e->n_devices; k++) {
        mo_out_text(out, k > 0 ? ", " : "");
        mo_out_int(out, e->devices[k].sms);
    }
    mo_out_text(out, "], \"links\": \"held\", \"shared\": "
                     "[\"memory\", \"memory bandwidth\", \"L2 cache\", "
                     "\"clocks\"]}");
}

static void put_times(const mo_report_execution *e, mo_out *out)
{
    if (e->measured) {
        put_us(out, "measured_us", e->measured_ns);
        put_us(out, "measured_spread_us", e->spread_ns);
    }
    put_us(out, "predicted_us", e->predicted_ns);
    put_known(out, "max_error", e->max_error);
    put_text(out, "transport", e->transport);
    put_int(out, "ranks", e->n_ranks);
    put_text(out, "precision", e->precision);
    if (e->emulated)
        put_emulation(e, out);
    if (e->measured) {
        put_int(out, "runs", e->runs);
        put_int(out, "warm_ups", e->warm_ups);
    }
    put_known(out, "path_ratio", e->path_ratio);
    put_known(out, "kernel_ratio", e->kernel_ratio);
    put_known(out, "hidden_ratio", e->hidden_ratio);
    put_int(out, "transfers", e->n_transfers);
    put_int(out, "sent_bytes", e->sent_bytes);
}

/* Writes a further member of an object on one line. */
static void put_member(mo_out *out, const char *key, int64_t value)
{
    mo_out_printf(out, ", \"%s\": ", key);
    mo_out_int(out, value);
}

static void put_device(const mo_report_execution_device *d, mo_out *out)
{
    mo_out_text(out, "{\"id\": ");
    mo_out_json(out, d->id);
    put_member(out, "ops", d->items);
    mo_out_text(out, ", \"backend\": ");
    mo_out_json(out, d->backend);
    put_member(out, "threads", d->threads);
    if (d->sms > 0)
        put_member(out, "sms", d->sms);
    put_member(out, "weight_bytes", d->weight_bytes);
    put_member(out, "value_bytes", d->arena_bytes);
    if (d->allocated_bytes >= 0) {
        put_member(out, "workspace_bytes", d->workspace_bytes);
        put_member(out, "allocated_bytes", d->allocated_bytes);
    }
    if (d->capacity_bytes < INT64_MAX)
        put_member(out, "capacity_bytes", d->capacity_bytes);
    if (d->busy_ns >= 0) {
        mo_out_text(out, ", \"busy_us\": ");
        mo_out_double(out, (double) d->busy_ns / 1000);
    }
    mo_out_text(out, "}");
}

static void put_class(const mo_report_execution *e,
                      const mo_report_execution_class *c, mo_out *out)
{
    mo_out_text(out, "{\"class\": ");
    mo_out_json(out, c->name);
    put_member(out, "ops", c->items);
    mo_out_text(out, ", \"predicted_us\": ");
    mo_out_double(out, (double) c->predicted_ns / 1000);
    if (e->measured) {
        mo_out_text(out, ", \"measured_us\": ");
        mo_out_double(out, (double) c->measured_ns / 1000);
    }
    mo_out_text(out, "}");
}

static void put_output(const mo_report_execution_output *o, mo_out *out)
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
        put_finite(out, o->error);
    }
    mo_out_text(out, "}");
}

static void put_between(mo_out *out, int i)
{
    mo_out_text(out, i > 0 ? ",\n    " : "\n    ");
}

void mo_report_execution_json(const mo_report_execution *e, mo_out *out)
{
    put_what(e, out);
    put_times(e, out);
    put_key(out, "by_device");
    mo_out_text(out, "[");
    for (int k = 0; k < e->n_devices; k++) {
        put_between(out, k);
        put_device(&e->devices[k], out);
    }
    mo_out_text(out, "\n  ],\n  \"by_class\": [");
    for (int i = 0; i < e->n_classes; i++) {
        put_between(out, i);
        put_class(e, &e->classes[i], out);
    }
    mo_out_text(out, "\n  ],\n  \"outputs\": [");
    for (int i = 0; i < e->n_outputs; i++) {
        put_between(out, i);
        put_output(&e->outputs[i], out);
    }
    mo_out_text(out, "\n  ]\n}\n");
}
