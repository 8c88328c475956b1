/* SPDX-License-Identifier: Apache-2.0 */
#include "report/execution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/minmax.h"
#include "base/utf8.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200 };

static void put_us(int64_t ns, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    mo_out_text(out, mo_format_time(ns, text));
}

static void put_line(const char *what, int64_t ns, mo_out *out)
{
    mo_out_printf(out, "%-12s", what);
    put_us(ns, out);
}

static void put_makespan(const mo_report_execution *e, mo_out *out)
{
    if (e->trusted)
        put_line("predicted", e->predicted_ns, out);
    else
        mo_out_printf(out, "%-12s%s", "predicted", MO_REPORT_NO_PREDICTION);
    mo_out_text(out, "\n");
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

static void put_percentiles(const mo_report_execution *e, mo_out *out)
{
    const struct {
        const char *name;
        int64_t ns;
    } items[] = { { "  min ", e->min_ns },
                  { ", p50 ", e->measured_ns },
                  { ", p95 ", e->p95_ns },
                  { ", p99 ", e->p99_ns } };

    if (!e->measured || e->runs < 2)
        return;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        mo_out_text(out, items[i].name);
        put_us(items[i].ns, out);
    }
    mo_out_text(out, "\n");
}

bool mo_report_execution_quiet(const mo_report_execution *e)
{
    return !e->load && e->n_disturbed <= e->runs / 4;
}

/* Wait for a processor, mean of the device's threads (a GPU is driven by one):
 * the sum of all threads may exceed the time of a run. So may the mean, since
 * waiting at the barrier before a run counts, too. */
static int64_t mean_wait_ns(const mo_report_execution_device *d)
{
    return d->wait_ns / mo_max_int(d->threads, 1);
}

/* The device whose threads waited for longest. */
static void put_disturbance(const mo_report_execution *e, mo_out *out)
{
    const mo_report_execution_device *most = e->devices;
    char id[NAME_ROOM];

    if (!e->measured || mo_report_execution_quiet(e))
        return;
    mo_out_printf(out, "%-12s", "not quiet");
    for (int k = 1; k < e->n_devices; k++)
        if (mean_wait_ns(&e->devices[k]) > mean_wait_ns(most))
            most = &e->devices[k];
    if (e->n_disturbed > e->runs / 4 && mean_wait_ns(most) == 0)
        mo_out_printf(out, "%d of %d runs waited for a processor%s",
                      e->n_disturbed, e->runs, e->load ? "; " : "");
    else if (e->n_disturbed > e->runs / 4) {
        mo_out_printf(out, "device %s waited ",
                      mo_utf8_escape_controls(id, sizeof id, most->id));
        put_us(mean_wait_ns(most), out);
        mo_out_text(out, " for a processor in a run of ");
        put_us(e->measured_ns, out);
        mo_out_printf(out, " (%d of %d runs disturbed)%s", e->n_disturbed,
                      e->runs, e->load ? "; " : "");
    }
    mo_out_printf(out, "%s\n", e->load ? e->load : "");
}

static void put_ratio(const char *what, double ratio, mo_out *out)
{
    if (!isnan(ratio))
        mo_out_printf(out, "  %-48s%6.1f %%\n", what, 100 * ratio);
}

static void put_device(const mo_report_execution *e,
                       const mo_report_execution_device *d, mo_out *out)
{
    char id[NAME_ROOM], model[NAME_ROOM], weights[MO_FORMAT_SIZE],
        values[MO_FORMAT_SIZE];
    char most[MO_FORMAT_SIZE], all[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%6d ops",
                  mo_utf8_escape_controls(id, sizeof id, d->id), d->items);
    if (d->threads == 0)
        mo_out_printf(
            out, "  on %s%s%s", d->backend, d->model ? ", " : "",
            d->model ? mo_utf8_escape_controls(model, sizeof model, d->model)
                     : "");
    else
        mo_out_printf(out, "  %2d thread%s", d->threads,
                      d->threads > 1 ? "s" : " ");
    if (d->cpus && *d->cpus)
        mo_out_printf(out, " on %s %s",
                      strpbrk(d->cpus, ",-") ? "processors" : "processor",
                      d->cpus);
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
    if (e->measured && d->wait_ns >= 0 && e->measured_ns > 0)
        mo_out_printf(out, ", %.1f %% waiting for a processor",
                      100 * (double) mean_wait_ns(d) / (double) e->measured_ns);
    mo_out_text(out, "\n");
}

static void put_class(const mo_report_execution *e,
                      const mo_report_execution_class *c,
                      const mo_time_unit *unit, mo_out *out)
{
    mo_out_printf(out, "%-16s%8d", c->name, c->items);
    if (e->trusted)
        mo_out_printf(out, "%16.*f", unit->decimals - 2,
                      (double) c->predicted_ns / unit->ns);
    if (e->measured)
        mo_out_printf(out, "%16.*f", unit->decimals - 2,
                      (double) c->measured_ns / unit->ns);
    mo_out_text(out, "\n");
}

/* All times in the unit of the longest class; the last row is of
 * transfers. */
static void put_classes(const mo_report_execution *e, mo_out *out)
{
    const mo_report_execution_class transfers = { "transfers", e->n_transfers,
                                                  e->predicted_transfer_ns,
                                                  e->measured_transfer_ns };
    const mo_time_unit *unit;
    char predicted[32], measured[32];
    int64_t longest_ns = 0;

    for (int i = 0; i < e->n_classes; i++)
        longest_ns =
            mo_max_i64(longest_ns, e->trusted ? e->classes[i].predicted_ns
                                              : e->classes[i].measured_ns);
    unit = mo_format_time_unit(longest_ns);
    snprintf(predicted, sizeof predicted, "predicted %s", unit->name);
    snprintf(measured, sizeof measured, "measured %s", unit->name);
    mo_out_printf(out, "\n%-16s%8s", "class", "ops");
    if (e->trusted)
        mo_out_printf(out, "%16s", predicted);
    if (e->measured)
        mo_out_printf(out, "%16s", measured);
    mo_out_text(out, "\n");
    for (int i = 0; i < e->n_classes; i++)
        put_class(e, &e->classes[i], unit, out);
    if (e->n_transfers == 0 || e->predicted_transfer_ns < 0)
        return;
    put_class(e, &transfers, unit, out);
    if (e->measured && e->exposed_transfer_ns >= 0) {
        mo_out_text(out, "measured transfers end when the receiver continues; "
                         "devices waited ");
        put_us(e->exposed_transfer_ns, out);
        mo_out_text(out, " of that\n");
    }
}

void mo_report_execution_text(const mo_report_execution *e, mo_out *out)
{
    char size[MO_FORMAT_SIZE];
    char name[NAME_ROOM];
    char bytes[MO_FORMAT_SIZE];

    put_makespan(e, out);
    put_percentiles(e, out);
    put_disturbance(e, out);
    if (e->measured) {
        put_ratio("longest chain of measured times / makespan", e->path_ratio,
                  out);
        put_ratio("calls / time that devices were at work", e->kernel_ratio,
                  out);
        put_ratio("transfer time hidden by computation", e->hidden_ratio, out);
    }
    mo_out_printf(out, "%-12s%s\n", "precision", e->precision);
    if (e->regime)
        mo_report_rules_text(e->regime, &e->rules, out);
    if (e->random_weights > 0)
        mo_out_printf(out, "%-12srandom: %d tensor%s, %s\n", "weights",
                      e->random_weights, e->random_weights == 1 ? "" : "s",
                      mo_format_bytes(e->random_bytes, bytes));
    if (e->emulated)
        mo_out_printf(out, "%-12s%s\n", "emulated",
                      "devices are parts of one GPU; its memory bandwidth, L2 "
                      "cache and clocks are shared, links are held back");
    mo_out_printf(out, "%-12s%d, %s\n", "transfers", e->n_transfers,
                  mo_format_bytes((double) e->sent_bytes, size));
    for (int i = 0; i < e->n_links; i++) {
        const mo_report_execution_link *l = &e->links[i];
        char from[NAME_ROOM], to[NAME_ROOM];

        mo_out_printf(out, "  %s to %s by %s: %d, %s\n",
                      mo_utf8_escape_controls(from, sizeof from, l->from),
                      mo_utf8_escape_controls(to, sizeof to, l->to), l->path,
                      l->n_transfers, mo_format_bytes((double) l->bytes, size));
    }
    mo_out_text(out, "\n");
    for (int k = 0; k < e->n_devices; k++)
        put_device(e, &e->devices[k], out);
    put_classes(e, out);
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
    for (int i = 0; i < e->n_compared; i++) {
        const mo_report_execution_comparison *c = &e->compared[i];

        mo_out_printf(out, "%s %s: largest error %.3g, tolerance %g\n",
                      c->max_error <= e->tolerance ? "equal to"
                                                   : "DIFFERS from",
                      mo_utf8_escape_controls(name, sizeof name, c->with),
                      c->max_error, e->tolerance);
    }
}

/* Infinity is written as the largest finite number, NaN not at all. */
static void json_known(mo_json_writer *w, const char *key, double value)
{
    if (!isnan(value))
        mo_json_put_double(w, key, isinf(value) ? 1e308 : value);
}

static void json_predicted(const mo_report_execution *e, mo_json_writer *w,
                           const char *key, int64_t ns)
{
    if (e->trusted)
        mo_json_put_us(w, key, ns);
    else
        mo_json_put_null(w, key);
}

static void json_times(const mo_report_execution *e, mo_json_writer *w)
{
    double max_error = NAN;

    for (int i = 0; i < e->n_compared; i++)
        max_error = fmax(max_error, e->compared[i].max_error);
    if (e->measured) {
        mo_json_put_us(w, "measured_us", e->measured_ns);
        mo_json_put_us(w, "measured_spread_us", e->spread_ns);
    }
    json_predicted(e, w, "predicted_us", e->predicted_ns);
    json_known(w, "max_error", max_error);
    mo_json_put_text(w, "transport", e->transport);
    mo_json_put_int(w, "ranks", e->n_ranks);
    mo_json_put_text(w, "precision", e->precision);
    if (e->random_weights > 0) {
        mo_json_put_int(w, "random_weights", e->random_weights);
        mo_json_put_int(w, "random_weight_bytes", (int64_t) e->random_bytes);
    }
    if (e->emulated) {
        static const char *const shared[] = { "memory", "memory bandwidth",
                                              "L2 cache", "clocks" };

        mo_json_begin_object(w, "emulated", MO_JSON_INLINE);
        mo_json_begin_array(w, "parts", MO_JSON_INLINE);
        for (int k = 0; k < e->n_devices; k++)
            mo_json_put_int(w, NULL, e->devices[k].sms);
        mo_json_end(w);
        mo_json_put_text(w, "links", "held");
        mo_json_begin_array(w, "shared", MO_JSON_INLINE);
        for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
            mo_json_put_text(w, NULL, shared[i]);
        mo_json_end(w);
        mo_json_end(w);
    }
    if (e->measured) {
        mo_json_put_int(w, "runs", e->runs);
        mo_json_put_int(w, "warm_ups", e->warm_ups);
        mo_json_put_us(w, "min_us", e->min_ns);
        mo_json_put_us(w, "p50_us", e->measured_ns);
        mo_json_put_us(w, "p95_us", e->p95_ns);
        mo_json_put_us(w, "p99_us", e->p99_ns);
        mo_json_begin_array(w, "runs_us", MO_JSON_INLINE);
        for (int i = 0; i < e->runs; i++)
            mo_json_put_us(w, NULL, e->run_ns[i]);
        mo_json_end(w);
        mo_json_put_bool(w, "quiet", mo_report_execution_quiet(e));
        mo_json_put_int(w, "disturbed_runs", e->n_disturbed);
        if (e->load)
            mo_json_put_text(w, "load", e->load);
    }
    json_known(w, "path_ratio", e->path_ratio);
    json_known(w, "kernel_ratio", e->kernel_ratio);
    json_known(w, "hidden_ratio", e->hidden_ratio);
    mo_json_put_int(w, "transfers", e->n_transfers);
    mo_json_put_int(w, "sent_bytes", e->sent_bytes);
    if (e->predicted_transfer_ns >= 0)
        mo_json_put_us(w, "predicted_transfer_us", e->predicted_transfer_ns);
    if (e->measured && e->measured_transfer_ns >= 0)
        mo_json_put_us(w, "measured_transfer_us", e->measured_transfer_ns);
    if (e->measured && e->exposed_transfer_ns >= 0)
        mo_json_put_us(w, "exposed_transfer_us", e->exposed_transfer_ns);
}

static void json_device(const mo_report_execution_device *d, mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "id", d->id);
    mo_json_put_int(w, "ops", d->items);
    mo_json_put_text(w, "backend", d->backend);
    if (d->model)
        mo_json_put_text(w, "model", d->model);
    mo_json_put_int(w, "threads", d->threads);
    if (d->cpus && *d->cpus)
        mo_json_put_text(w, "cpus", d->cpus);
    if (d->sms > 0)
        mo_json_put_int(w, "sms", d->sms);
    mo_json_put_int(w, "weight_bytes", d->weight_bytes);
    mo_json_put_int(w, "value_bytes", d->arena_bytes);
    if (d->allocated_bytes >= 0) {
        mo_json_put_int(w, "workspace_bytes", d->workspace_bytes);
        mo_json_put_int(w, "allocated_bytes", d->allocated_bytes);
    }
    if (d->capacity_bytes < INT64_MAX)
        mo_json_put_int(w, "capacity_bytes", d->capacity_bytes);
    if (d->busy_ns >= 0)
        mo_json_put_us(w, "busy_us", d->busy_ns);
    if (d->wait_ns >= 0)
        mo_json_put_us(w, "wait_us", mean_wait_ns(d));
    mo_json_end(w);
}

static void json_comparisons(const mo_report_execution *e, mo_json_writer *w)
{
    if (e->n_compared == 0)
        return;
    mo_json_begin_array(w, "compared", MO_JSON_BLOCK);
    for (int i = 0; i < e->n_compared; i++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "with", e->compared[i].with);
        json_known(w, "max_error", e->compared[i].max_error);
        mo_json_put_bool(w, "equal", e->compared[i].max_error <= e->tolerance);
        mo_json_end(w);
    }
    mo_json_end(w);
}

void mo_report_execution_json(const mo_report_execution *e, mo_out *out)
{
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", e->graph);
    mo_json_put_text(&w, "cluster", e->cluster);
    mo_json_put_int(&w, "ops", e->ops);
    mo_json_put_int(&w, "coarse_ops", e->coarse_ops);
    mo_json_put_int(&w, "edges", e->edges);
    mo_json_put_int(&w, "devices", e->n_devices);
    json_predicted(e, &w, "makespan_us", e->predicted_ns);
    if (e->regime)
        mo_report_rules_json(e->regime, &e->rules, &w);
    json_times(e, &w);
    if (e->links) {
        mo_json_begin_array(&w, "links", MO_JSON_BLOCK);
        for (int i = 0; i < e->n_links; i++) {
            const mo_report_execution_link *l = &e->links[i];

            mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
            mo_json_put_text(&w, "from", l->from);
            mo_json_put_text(&w, "to", l->to);
            mo_json_put_text(&w, "path", l->path);
            mo_json_put_int(&w, "transfers", l->n_transfers);
            mo_json_put_int(&w, "bytes", l->bytes);
            mo_json_end(&w);
        }
        mo_json_end(&w);
    }
    mo_json_begin_array(&w, "by_device", MO_JSON_BLOCK);
    for (int k = 0; k < e->n_devices; k++)
        json_device(&e->devices[k], &w);
    mo_json_end(&w);
    mo_json_begin_array(&w, "by_class", MO_JSON_BLOCK);
    for (int i = 0; i < e->n_classes; i++) {
        const mo_report_execution_class *c = &e->classes[i];

        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "class", c->name);
        mo_json_put_int(&w, "ops", c->items);
        json_predicted(e, &w, "predicted_us", c->predicted_ns);
        if (e->measured)
            mo_json_put_us(&w, "measured_us", c->measured_ns);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    json_comparisons(e, &w);
    mo_json_begin_array(&w, "outputs", MO_JSON_BLOCK);
    for (int i = 0; i < e->n_outputs; i++) {
        const mo_report_execution_output *o = &e->outputs[i];

        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "name", o->name);
        mo_json_put_text(&w, "type", o->type);
        if (o->file)
            mo_json_put_text(&w, "file", o->file);
        json_known(&w, "error", o->error);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    mo_json_end(&w);
}
