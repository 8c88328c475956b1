/* SPDX-License-Identifier: Apache-2.0 */
#include "report/generation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/minmax.h"
#include "base/utf8.h"
#include "report/execution.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200 };

/* Times of all tokens but the first. */
typedef struct token_times {
    int64_t n, sum_ns, p50_ns, p95_ns, p99_ns;
} token_times;

static int64_t percentile(const int64_t *sorted, int64_t n, int part)
{
    return n > 0 ? sorted[(n * part + 99) / 100 - 1] : 0;
}

/* Without memory for the order there are no percentiles. */
static token_times measure(const mo_report_generation *g)
{
    token_times t = { .n = g->n > 0 ? g->n - 1 : 0 };
    int64_t *sorted = calloc((size_t) t.n + 1, sizeof *sorted);

    for (int64_t i = 0; i < t.n; i++)
        t.sum_ns += g->ns[i + 1];
    if (!sorted)
        return t;
    for (int64_t i = 0; i < t.n; i++)
        sorted[i] = g->ns[i + 1];
    qsort(sorted, (size_t) t.n, sizeof *sorted, mo_compare_i64);
    t.p50_ns = percentile(sorted, t.n, 50);
    t.p95_ns = percentile(sorted, t.n, 95);
    t.p99_ns = percentile(sorted, t.n, 99);
    free(sorted);
    return t;
}

static double rate(const mo_report_generation *g, const token_times *t)
{
    return t->sum_ns > 0
               ? (double) t->n * (double) g->batch / (double) t->sum_ns * 1e9
               : 0;
}

static void put_time(const char *before, int64_t ns, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%s%s", before, mo_format_time(ns, text));
}

static void put_predicted(const mo_report_generation *g, int64_t ns,
                          mo_out *out)
{
    if (g->trusted)
        put_time("; predicted ", ns, out);
    mo_out_text(out, "\n");
}

static void put_device(const mo_report_generation_device *d, mo_out *out)
{
    char id[NAME_ROOM], text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s", mo_utf8_escape_controls(id, sizeof id, d->id));
    if (d->threads > 0)
        mo_out_printf(out, "%2d thread%s", d->threads,
                      d->threads > 1 ? "s" : " ");
    else
        mo_out_printf(out, "on %s", d->backend);
    mo_out_printf(out, "  weights %s",
                  mo_format_bytes((double) d->weight_bytes, text));
    mo_out_printf(out, ", states %s",
                  mo_format_bytes((double) d->state_bytes, text));
    mo_out_printf(out, ", values %s",
                  mo_format_bytes((double) d->value_bytes, text));
    if (d->capacity_bytes < INT64_MAX)
        mo_out_printf(out, " of %s",
                      mo_format_bytes((double) d->capacity_bytes, text));
    mo_out_text(out, "\n");
}

void mo_report_generation_text(const mo_report_generation *g, mo_out *out)
{
    token_times t = measure(g);
    char text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%" PRId64 " after a prompt of %" PRId64,
                  g->planned > 0 ? "planned" : "tokens",
                  g->planned > 0 ? g->planned : g->n, g->prompt);
    if (g->loaded > 0)
        mo_out_printf(out, ", of which %" PRId64 " were loaded", g->loaded);
    if (g->batch > 1)
        mo_out_printf(out, ", %" PRId64 " sequences", g->batch);
    if (g->stopped_by)
        mo_out_printf(out, ", ended by %s", g->stopped_by);
    mo_out_text(out, "\n");
    if (g->n > 0) {
        put_time("first token ", g->ns[0], out);
        put_predicted(g, g->predicted_first_ns, out);
    }
    if (t.n > 0) {
        put_time("a token     p50 ", t.p50_ns, out);
        put_time(", p95 ", t.p95_ns, out);
        put_time(", p99 ", t.p99_ns, out);
        put_predicted(g, g->predicted_token_ns, out);
        mo_out_printf(out, "%-12s%.5g tokens/s\n", "throughput", rate(g, &t));
    }
    if (!g->trusted)
        mo_out_printf(out, "%-12s%s\n", "predicted", MO_REPORT_NO_PREDICTION);
    else if (g->planned > 0) {
        put_time("predicted   first token ", g->predicted_first_ns, out);
        put_time(", a token ", g->predicted_token_ns, out);
        mo_out_text(out, "\n");
    }
    if (g->load)
        mo_out_printf(out, "%-12s%s\n", "not quiet", g->load);
    mo_out_printf(out, "%-12s%s\n", "precision", g->precision);
    mo_out_printf(out, "%-12s%s a token", "sent",
                  mo_format_bytes((double) g->sent_bytes, text));
    mo_out_printf(out, ", of states %s\n\n",
                  mo_format_bytes((double) g->sent_state_bytes, text));
    for (int d = 0; d < g->n_devices; d++)
        put_device(&g->devices[d], out);
}

static void json_predicted(const mo_report_generation *g, mo_json_writer *w,
                           const char *key, int64_t ns)
{
    if (g->trusted)
        mo_json_put_us(w, key, ns);
    else
        mo_json_put_null(w, key);
}

static void json_device(const mo_report_generation_device *d, mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "id", d->id);
    mo_json_put_text(w, "backend", d->backend);
    mo_json_put_int(w, "threads", d->threads);
    mo_json_put_int(w, "weight_bytes", d->weight_bytes);
    mo_json_put_int(w, "state_bytes", d->state_bytes);
    mo_json_put_int(w, "value_bytes", d->value_bytes);
    if (d->capacity_bytes < INT64_MAX)
        mo_json_put_int(w, "capacity_bytes", d->capacity_bytes);
    mo_json_end(w);
}

void mo_report_generation_json(const mo_report_generation *g, mo_out *out)
{
    mo_json_writer w = { .out = out };
    token_times t = measure(g);

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", g->graph);
    mo_json_put_text(&w, "cluster", g->cluster);
    mo_json_put_int(&w, "devices", g->n_devices);
    mo_json_put_text(&w, "transport", g->transport);
    mo_json_put_int(&w, "ranks", g->n_ranks);
    mo_json_put_text(&w, "precision", g->precision);
    mo_json_put_int(&w, "batch", g->batch);
    mo_json_put_int(&w, "prompt", g->prompt);
    mo_json_put_int(&w, "loaded", g->loaded);
    if (g->capacity < INT64_MAX)
        mo_json_put_int(&w, "capacity", g->capacity);
    mo_json_put_int(&w, "planned", g->planned);
    mo_json_put_int(&w, "tokens", g->n);
    mo_json_put_bool(&w, "stopped", g->stopped_by);
    if (g->stopped_by)
        mo_json_put_text(&w, "stopped_by", g->stopped_by);
    mo_json_put_us(&w, "first_token_us", g->n > 0 ? g->ns[0] : 0);
    json_predicted(g, &w, "predicted_first_token_us", g->predicted_first_ns);
    mo_json_put_us(&w, "p50_us", t.p50_ns);
    mo_json_put_us(&w, "p95_us", t.p95_ns);
    mo_json_put_us(&w, "p99_us", t.p99_ns);
    json_predicted(g, &w, "predicted_token_us", g->predicted_token_ns);
    mo_json_put_double(&w, "tokens_per_second", rate(g, &t));
    mo_json_put_int(&w, "sent_bytes", g->sent_bytes);
    mo_json_put_int(&w, "sent_state_bytes", g->sent_state_bytes);
    mo_json_put_bool(&w, "quiet", !g->load);
    if (g->load)
        mo_json_put_text(&w, "load", g->load);
    mo_json_begin_array(&w, "by_device", MO_JSON_BLOCK);
    for (int d = 0; d < g->n_devices; d++)
        json_device(&g->devices[d], &w);
    mo_json_end(&w);
    mo_json_begin_array(&w, "ids", MO_JSON_BLOCK);
    for (int64_t b = 0; b < g->batch; b++) {
        mo_json_begin_array(&w, NULL, MO_JSON_INLINE);
        for (int64_t i = 0; i < g->n; i++)
            mo_json_put_int(&w, NULL, g->ids[i * g->batch + b]);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    mo_json_end(&w);
}
