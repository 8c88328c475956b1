/* SPDX-License-Identifier: Apache-2.0 */
#include "report/throughput.h"

#include <stdio.h>

#include "base/json_writer.h"
#include "base/minmax.h"
#include "base/utf8.h"
#include "report/execution.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200, ROW_ROOM = 2 * NAME_ROOM + 32 };

static double rate(const mo_report_throughput *t)
{
    return t->wall_ns > 0 ? (double) t->n_completed / (double) t->wall_ns * 1e9
                          : 0;
}

/* The measured load where there is one. */
static int64_t load_of(const mo_report_throughput_resource *r)
{
    return r->measured_ns >= 0 ? r->measured_ns : r->predicted_ns;
}

static double utilization(const mo_report_throughput *t,
                          const mo_report_throughput_resource *r)
{
    int64_t period_ns = mo_max_i64(t->period_ns, load_of(r));

    return period_ns > 0 ? (double) load_of(r) / (double) period_ns : 0;
}

/* The resource with the largest load, measured or predicted. */
static const mo_report_throughput_resource *
bottleneck(const mo_report_throughput *t, bool measured)
{
    const mo_report_throughput_resource *most = t->resources;

    for (int i = 1; i < t->n_resources; i++) {
        const mo_report_throughput_resource *r = &t->resources[i];

        if (measured ? load_of(r) > load_of(most)
                     : r->predicted_ns > most->predicted_ns)
            most = r;
    }
    return most;
}

/* "device fast", "channel fast slow", "host". */
static const char *name_resource(const mo_report_throughput_resource *r,
                                 char text[ROW_ROOM])
{
    char from[NAME_ROOM], to[NAME_ROOM];

    snprintf(text, ROW_ROOM, "%s%s%s%s%s", r->kind, r->from ? " " : "",
             r->from ? mo_utf8_escape_controls(from, sizeof from, r->from) : "",
             r->to ? " " : "",
             r->to ? mo_utf8_escape_controls(to, sizeof to, r->to) : "");
    return text;
}

static void put_time(const char *before, int64_t ns, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%s%s", before, mo_format_time(ns, text));
}

static void put_period(const mo_report_throughput *t, mo_out *out)
{
    if (t->trusted) {
        put_time("predicted   ", t->predicted_period_ns, out);
        mo_out_text(out, " a request\n");
    } else if (t->n_batches == 0)
        mo_out_printf(out, "%-12s%s\n", "predicted", MO_REPORT_NO_PREDICTION);
    if (t->n_completed == 0)
        return;
    put_time("measured    ", t->period_ns, out);
    if (t->n_steady > 0)
        mo_out_printf(out, " a request, mean of %d", t->n_steady);
    else
        mo_out_text(out, " a request, from empty slots");
    if (t->trusted && t->predicted_period_ns > 0)
        mo_out_printf(
            out, "; %+.1f %% against the prediction",
            100 *
                ((double) t->period_ns / (double) t->predicted_period_ns - 1));
    mo_out_printf(out, "\n%-12s%.5g requests/s", "throughput", rate(t));
    put_time(": all in ", t->wall_ns, out);
    put_time("\nlatency     p50 ", t->p50_ns, out);
    put_time(", p95 ", t->p95_ns, out);
    put_time(", p99 ", t->p99_ns, out);
    put_time(", min ", t->min_ns, out);
    mo_out_text(out, "\n");
}

static void put_device(const mo_report_throughput_device *d, mo_out *out)
{
    char id[NAME_ROOM], text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%6d ops",
                  mo_utf8_escape_controls(id, sizeof id, d->id), d->items);
    if (d->threads > 0)
        mo_out_printf(out, "  %2d thread%s", d->threads,
                      d->threads > 1 ? "s" : " ");
    else
        mo_out_printf(out, "  on %s", d->backend);
    mo_out_printf(out, "  weights %s",
                  mo_format_bytes((double) d->weight_bytes, text));
    mo_out_printf(out, ", values %d times %s", d->slots,
                  mo_format_bytes((double) d->planned_slot_bytes, text));
    mo_out_printf(out, ", allocated %d times %s", d->slots,
                  mo_format_bytes((double) d->slot_bytes, text));
    mo_out_printf(out, " and %s",
                  mo_format_bytes((double) d->shared_bytes, text));
    if (d->capacity_bytes < INT64_MAX)
        mo_out_printf(out, " of %s",
                      mo_format_bytes((double) d->capacity_bytes, text));
    mo_out_text(out, "\n");
}

static void put_copy(const mo_report_throughput *t, int c, mo_out *out)
{
    const mo_report_throughput_copy *copy = &t->copies[c];

    mo_out_printf(out, "copy %-7d%lld requests, %d in flight", c + 1,
                  (long long) copy->n_completed, copy->in_flight);
    put_time(", ", copy->period_ns, out);
    mo_out_text(out, " a request");
    if (t->trusted)
        put_time(", predicted ", copy->predicted_ns, out);
    mo_out_text(out, "\n");
}

/* Time since the detection; 0 where that was not reached. */
static int64_t since(const mo_report_throughput_recovery *r, int64_t ns)
{
    return ns > 0 ? ns - r->detected_ns : 0;
}

static void put_recovery(const mo_report_throughput_recovery *r, mo_out *out)
{
    char text[2 * NAME_ROOM];

    mo_out_printf(out, "%-12s%s", "loss",
                  mo_utf8_escape_controls(text, sizeof text, r->why));
    mo_out_printf(out, "\n%-12sfrom request %lld on, %lld of them in flight",
                  "recovery", (long long) r->request, (long long) r->n_again);
    put_time("; joined after ", since(r, r->joined_ns), out);
    put_time(", placed ", since(r, r->placed_ns), out);
    put_time(", loaded ", since(r, r->loaded_ns), out);
    put_time(", next output ", since(r, r->output_ns), out);
    mo_out_printf(out, "\n%-12s%d ops with weights of %s\n", "moved",
                  r->n_moved, mo_format_bytes((double) r->moved_bytes, text));
}

void mo_report_throughput_text(const mo_report_throughput *t, mo_out *out)
{
    put_period(t, out);
    mo_out_printf(out, "%-12s%lld of %lld done, %d in flight\n", "requests",
                  (long long) t->n_completed, (long long) t->n_requests,
                  t->in_flight);
    if (t->n_batches > 0)
        mo_out_printf(out, "%-12s%lld, of %.3g requests each\n", "batches",
                      (long long) t->n_batches,
                      (double) t->n_completed / (double) t->n_batches);
    for (int i = 0; i < t->n_recoveries; i++)
        put_recovery(&t->recoveries[i], out);
    if (t->stopped_by)
        mo_out_printf(out, "%-12sby %s\n", "stopped", t->stopped_by);
    if (t->load)
        mo_out_printf(out, "%-12s%s\n", "not quiet", t->load);
    mo_out_printf(out, "%-12s%s\n", "precision", t->precision);
    if (t->n_resources > 0) {
        char name[ROW_ROOM], text[MO_FORMAT_SIZE];

        mo_out_printf(out, "%-12s%s", "bottleneck",
                      name_resource(bottleneck(t, true), name));
        if (t->trusted)
            mo_out_printf(out, "; predicted %s",
                          name_resource(bottleneck(t, false), name));
        mo_out_printf(out, "\n\n%-32s%14s%14s%14s\n", "resource", "predicted",
                      "measured", "utilization");
        for (int i = 0; i < t->n_resources; i++) {
            const mo_report_throughput_resource *r = &t->resources[i];

            mo_out_printf(out, "%-32s", name_resource(r, name));
            mo_out_printf(out, "%14s",
                          t->trusted ? mo_format_time(r->predicted_ns, text)
                                     : "-");
            mo_out_printf(out, "%14s",
                          r->measured_ns >= 0
                              ? mo_format_time(r->measured_ns, text)
                              : "-");
            if (t->n_completed > 0)
                mo_out_printf(out, "%12.1f %%\n", 100 * utilization(t, r));
            else
                mo_out_printf(out, "%14s\n", "-");
        }
    }
    for (int c = 0; c < t->n_copies; c++)
        put_copy(t, c, out);
    mo_out_text(out, "\n");
    for (int d = 0; d < t->n_devices; d++)
        put_device(&t->devices[d], out);
}

static void json_predicted(const mo_report_throughput *t, mo_json_writer *w,
                           const char *key, int64_t ns)
{
    if (t->trusted)
        mo_json_put_us(w, key, ns);
    else
        mo_json_put_null(w, key);
}

static void json_resource(const mo_report_throughput *t,
                          const mo_report_throughput_resource *r,
                          mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "kind", r->kind);
    if (r->from)
        mo_json_put_text(w, r->to ? "from" : "device", r->from);
    if (r->to)
        mo_json_put_text(w, "to", r->to);
    json_predicted(t, w, "predicted_us", r->predicted_ns);
    if (r->measured_ns >= 0)
        mo_json_put_us(w, "measured_us", r->measured_ns);
    if (t->n_completed > 0)
        mo_json_put_double(w, "utilization", utilization(t, r));
    mo_json_end(w);
}

static void json_device(const mo_report_throughput_device *d, mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "id", d->id);
    mo_json_put_int(w, "ops", d->items);
    mo_json_put_text(w, "backend", d->backend);
    mo_json_put_int(w, "threads", d->threads);
    mo_json_put_int(w, "weight_bytes", d->weight_bytes);
    mo_json_put_int(w, "planned_slot_bytes", d->planned_slot_bytes);
    mo_json_put_int(w, "slot_bytes", d->slot_bytes);
    mo_json_put_int(w, "shared_bytes", d->shared_bytes);
    if (d->capacity_bytes < INT64_MAX)
        mo_json_put_int(w, "capacity_bytes", d->capacity_bytes);
    mo_json_end(w);
}

static void json_recovery(const mo_report_throughput_recovery *r,
                          mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "why", r->why);
    mo_json_put_text(w, "devices", r->devices);
    mo_json_put_int(w, "request", r->request);
    mo_json_put_int(w, "in_flight", r->n_again);
    mo_json_put_int(w, "ranks", r->n_ranks);
    mo_json_put_int(w, "moved_ops", r->n_moved);
    mo_json_put_int(w, "moved_bytes", r->moved_bytes);
    mo_json_put_us(w, "silent_us", r->silent_ns);
    mo_json_put_us(w, "joined_us", since(r, r->joined_ns));
    mo_json_put_us(w, "placed_us", since(r, r->placed_ns));
    mo_json_put_us(w, "loaded_us", since(r, r->loaded_ns));
    mo_json_put_us(w, "output_us", since(r, r->output_ns));
    mo_json_end(w);
}

void mo_report_throughput_json(const mo_report_throughput *t, mo_out *out)
{
    mo_json_writer w = { .out = out };
    char name[ROW_ROOM];

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", t->graph);
    mo_json_put_text(&w, "cluster", t->cluster);
    mo_json_put_int(&w, "ops", t->ops);
    mo_json_put_int(&w, "coarse_ops", t->coarse_ops);
    mo_json_put_int(&w, "edges", t->edges);
    mo_json_put_int(&w, "devices", t->n_devices);
    mo_json_put_text(&w, "transport", t->transport);
    mo_json_put_int(&w, "ranks", t->n_ranks);
    mo_json_put_text(&w, "precision", t->precision);
    mo_json_put_int(&w, "in_flight", t->in_flight);
    mo_json_put_int(&w, "requests", t->n_requests);
    mo_json_put_int(&w, "completed", t->n_completed);
    if (t->n_batches > 0)
        mo_json_put_int(&w, "batches", t->n_batches);
    if (t->stopped_by)
        mo_json_put_text(&w, "stopped_by", t->stopped_by);
    mo_json_put_us(&w, "period_us", t->period_ns);
    json_predicted(t, &w, "predicted_period_us", t->predicted_period_ns);
    mo_json_put_int(&w, "periods", t->n_steady);
    mo_json_put_double(&w, "requests_per_second", rate(t));
    mo_json_put_us(&w, "wall_us", t->wall_ns);
    mo_json_put_us(&w, "min_us", t->min_ns);
    mo_json_put_us(&w, "p50_us", t->p50_ns);
    mo_json_put_us(&w, "p95_us", t->p95_ns);
    mo_json_put_us(&w, "p99_us", t->p99_ns);
    if (t->n_resources > 0) {
        mo_json_put_text(&w, "bottleneck",
                         name_resource(bottleneck(t, true), name));
        if (t->trusted)
            mo_json_put_text(&w, "predicted_bottleneck",
                             name_resource(bottleneck(t, false), name));
    }
    mo_json_put_bool(&w, "quiet", !t->load);
    if (t->load)
        mo_json_put_text(&w, "load", t->load);
    mo_json_begin_array(&w, "resources", MO_JSON_BLOCK);
    for (int i = 0; i < t->n_resources; i++)
        json_resource(t, &t->resources[i], &w);
    mo_json_end(&w);
    mo_json_begin_array(&w, "by_device", MO_JSON_BLOCK);
    for (int d = 0; d < t->n_devices; d++)
        json_device(&t->devices[d], &w);
    mo_json_end(&w);
    if (t->n_copies > 0) {
        mo_json_begin_array(&w, "copies", MO_JSON_BLOCK);
        for (int c = 0; c < t->n_copies; c++) {
            mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
            mo_json_put_int(&w, "completed", t->copies[c].n_completed);
            mo_json_put_int(&w, "in_flight", t->copies[c].in_flight);
            mo_json_put_us(&w, "period_us", t->copies[c].period_ns);
            json_predicted(t, &w, "predicted_period_us",
                           t->copies[c].predicted_ns);
            mo_json_end(&w);
        }
        mo_json_end(&w);
    }
    if (t->n_recoveries > 0) {
        mo_json_begin_array(&w, "recoveries", MO_JSON_BLOCK);
        for (int i = 0; i < t->n_recoveries; i++)
            json_recovery(&t->recoveries[i], &w);
        mo_json_end(&w);
    }
    mo_json_begin_array(&w, "failures", MO_JSON_BLOCK);
    for (int64_t i = 0; i < t->n_failures; i++) {
        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_int(&w, "request", t->failures[i].request);
        mo_json_put_text(&w, "reason", t->failures[i].reason);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    mo_json_end(&w);
}
