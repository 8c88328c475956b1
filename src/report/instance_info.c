/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/minmax.h"
#include "base/out.h"
#include "base/utf8.h"
#include "cost/instance.h"
#include "report/format_units.h"

/* Limits: characters of names and texts, devices across a page. */
enum { SHOWN_SIZE = 128, NAME_SIZE = 13, TEXT_SIZE = 64, MOST_SHOWN = 16 };

/* Where the times of an instance come from, by device: source, limit, and
 * typical error. Nothing is written where an instance has no origins. */

/* Ops of one device with the same source, limit and type. */
typedef struct origin_sum {
    int n;
    int64_t time_ns;
    double error_ns, known_ns; /* errors, and the times that have one */
} origin_sum;

/* Returns the mean error by time; NAN where at most half of the time has
 * one. */
static double mean_error(const origin_sum *sum)
{
    return sum->known_ns > 0 && 2 * sum->known_ns > (double) sum->time_ns
               ? sum->error_ns / sum->known_ns
               : NAN;
}

/* Writes "predicted: compute f16" or "measured". */
static const char *origin_text(mo_time_source source, mo_time_limit limit,
                               mo_math math, char text[TEXT_SIZE])
{
    snprintf(text, TEXT_SIZE, "%s%s%s%s%s", mo_time_source_names[source],
             limit != MO_TIME_LIMIT_NONE ? ": " : "",
             mo_time_limit_names[limit], math != MO_MATH_F32 ? " " : "",
             math != MO_MATH_F32 ? mo_math_name(math) : "");
    return text;
}

typedef void put_sum(const origin_sum *sum, const char *origin, void *to);

/* Calls put for every combination that ops of device have. */
static void for_each_sum(const mo_instance *x, int device, put_sum *put,
                         void *to)
{
    origin_sum sums[MO_TIME_SOURCES][MO_TIME_LIMITS][MO_MATHS];
    char text[TEXT_SIZE];

    memset(sums, 0, sizeof sums);
    for (int i = 0; i < x->n; i++) {
        int64_t at = (int64_t) i * x->n_devices + device;
        const mo_time_origin *from = &x->origins[at];
        origin_sum *sum = &sums[from->source][from->limit][from->math];

        sum->n++;
        sum->time_ns += x->p_ns[at];
        if (isnan(from->error))
            continue;
        sum->known_ns += (double) x->p_ns[at];
        sum->error_ns += from->error * (double) x->p_ns[at];
    }
    for (int s = 0; s < MO_TIME_SOURCES; s++)
        for (int l = 0; l < MO_TIME_LIMITS; l++)
            for (int m = 0; m < MO_MATHS; m++)
                if (sums[s][l][m].n > 0)
                    put(&sums[s][l][m],
                        origin_text((mo_time_source) s, (mo_time_limit) l,
                                    (mo_math) m, text),
                        to);
}

typedef struct table {
    mo_out *out;
    char device[NAME_SIZE];
} table;

static void put_origin(const origin_sum *sum, const char *origin, void *to)
{
    table *t = to;
    double error = mean_error(sum);
    char time[MO_FORMAT_SIZE];

    mo_out_printf(t->out, "%-12s %-24s %8d %13s", t->device, origin, sum->n,
                  mo_format_us((double) sum->time_ns / 1000, time));
    if (isnan(error))
        mo_out_text(t->out, "   unknown\n");
    else
        mo_out_printf(t->out, " %7.0f %%\n", 100 * error);
    t->device[0] = '\0';
}

/* Writes a table of the first n_devices devices. */
static void put_origins_text(const mo_instance *x, int n_devices, mo_out *out)
{
    if (!x->origins || x->n == 0)
        return;
    mo_out_text(out, "\ndevice       times are                     ops     "
                     "take all     error\n");
    for (int k = 0; k < n_devices; k++) {
        table t = { .out = out };

        mo_utf8_escape_controls(t.device, sizeof t.device, x->device_ids[k]);
        for_each_sum(x, k, put_origin, &t);
    }
}

static void json_error(mo_json_writer *w, const char *key, double error)
{
    if (isnan(error))
        mo_json_put_null(w, key);
    else
        mo_json_put_double(w, key, round(error * 1000) / 1000);
}

static void json_sum(const origin_sum *sum, const char *origin, void *to)
{
    mo_json_writer *w = to;

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "origin", origin);
    mo_json_put_int(w, "ops", sum->n);
    mo_json_put_us(w, "time_us", sum->time_ns);
    json_error(w, "error", mean_error(sum));
    mo_json_end(w);
}

/* Writes arrays "origin" and "error" for one op. */
static void put_op_origins_json(const mo_instance *x, int op, mo_json_writer *w)
{
    const mo_time_origin *from;
    char text[TEXT_SIZE];

    if (!x->origins)
        return;
    from = x->origins + (int64_t) op * x->n_devices;
    mo_json_begin_array(w, "origin", MO_JSON_INLINE);
    for (int k = 0; k < x->n_devices; k++)
        mo_json_put_text(
            w, NULL,
            origin_text(from[k].source, from[k].limit, from[k].math, text));
    mo_json_end(w);
    mo_json_begin_array(w, "error", MO_JSON_INLINE);
    for (int k = 0; k < x->n_devices; k++)
        json_error(w, NULL, from[k].error);
    mo_json_end(w);
}

typedef struct instance_totals {
    int64_t memory_bytes;
    int64_t *time_ns;     /* by device: sum over all ops */
    int64_t *transfer_ns; /* by pair class: sum over all flows */
    int n_pinned, n_grouped;
} instance_totals;

/* Returns the time of sending every flow from a to b. */
static int64_t pair_total_ns(const instance_totals *sums, const mo_instance *x,
                             int a, int b)
{
    return sums->transfer_ns[x->comm.pair_kind[(int64_t) a * x->n_devices + b]];
}

static void clear_totals(instance_totals *sums)
{
    free(sums->time_ns);
    free(sums->transfer_ns);
}

/* The caller clears *sums. Flows of one row are counted first, since they are
 * many. */
static mo_status make_totals(const mo_instance *x, instance_totals *sums,
                             mo_error *err)
{
    const int64_t *p_ns = x->p_ns, *comm_ns = x->comm.ns;
    int *count = calloc((size_t) x->comm.n_rows + 1, sizeof *count);

    *sums = (instance_totals){
        .time_ns = calloc((size_t) x->n_devices, sizeof *sums->time_ns),
        .transfer_ns =
            calloc((size_t) x->comm.n_kinds, sizeof *sums->transfer_ns)
    };
    if (!sums->time_ns || !sums->transfer_ns || !count) {
        clear_totals(sums);
        free(count);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < x->n; i++) {
        for (int k = 0; k < x->n_devices; k++)
            sums->time_ns[k] += *p_ns++;
        sums->memory_bytes += x->memory_bytes[i];
        sums->n_pinned += x->pin[i] != MO_FREE;
        sums->n_grouped += x->group[i] != MO_FREE;
    }
    for (int q = 0; q < x->n_flows; q++)
        count[x->comm.flow_row[q]]++;
    for (int r = 0; r < x->comm.n_rows; r++)
        for (int kind = 0; kind < x->comm.n_kinds; kind++)
            sums->transfer_ns[kind] += count[r] * *comm_ns++;
    free(count);
    return MO_OK;
}

static void put_count(mo_out *out, const char *what, int count)
{
    mo_out_printf(out, "%-12s%d\n", what, count);
}

/* Writes a matrix, up to the width of a page. */
static void put_transfers(const mo_instance *x, const instance_totals *sums,
                          mo_out *out)
{
    char name[NAME_SIZE], time[MO_FORMAT_SIZE];
    int n = mo_min_int(x->n_devices, MOST_SHOWN);

    if (x->n_devices < 2)
        return;
    mo_out_text(out, "\nall flows from (row) to (column)\n            ");
    for (int b = 0; b < n; b++)
        mo_out_printf(
            out, " %12s",
            mo_utf8_escape_controls(name, sizeof name, x->device_ids[b]));
    mo_out_char(out, '\n');
    for (int a = 0; a < n; a++) {
        mo_out_printf(
            out, "%-12s",
            mo_utf8_escape_controls(name, sizeof name, x->device_ids[a]));
        for (int b = 0; b < n; b++) {
            double ns = (double) pair_total_ns(sums, x, a, b);

            mo_out_printf(out, " %12s",
                          a == b ? "-" : mo_format_us(ns / 1000, time));
        }
        mo_out_char(out, '\n');
    }
    if (n < x->n_devices)
        mo_out_printf(out, "and %d more devices\n", x->n_devices - n);
}

mo_status mo_report_instance_text(const mo_report_instance *report, mo_out *out,
                                  mo_error *err)
{
    instance_totals sums;
    mo_status status = make_totals(report->instance, &sums, err);
    const mo_instance *x = report->instance;
    char text[SHOWN_SIZE];
    char formats[MO_NUMERIC_TEXT];
    char id[SHOWN_SIZE];
    char time[MO_FORMAT_SIZE];
    char memory[MO_FORMAT_SIZE];

    if (status != MO_OK)
        return status;
    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, report->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_escape_controls(text, sizeof text, report->cluster));
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", x->digest);
    mo_numeric_write(&x->formats, formats);
    if (formats[0])
        mo_out_printf(out, "%-12s%s\n", "formats", formats);
    mo_out_printf(out, "%-12s%d", "ops", report->fine_ops);
    if (x->n != report->fine_ops)
        mo_out_printf(out, ", coarsened %d", x->n);
    mo_out_char(out, '\n');
    put_count(out, "flows", x->n_flows);
    put_count(out, "tensors", x->n_tensors);
    mo_out_printf(out, "%-12s%s\n", "memory",
                  mo_format_bytes((double) sums.memory_bytes, text));
    mo_out_printf(out, "%-12s%d ops\n", "pinned", sums.n_pinned);
    mo_out_printf(out, "%-12s%d ops in %d groups\n", "colocated",
                  sums.n_grouped, x->n_groups);
    mo_out_text(out, "\ndevice        all ops on it        memory\n");
    for (int k = 0; k < report->instance->n_devices; k++) {
        int64_t room = report->instance->capacity_bytes[k];

        mo_out_printf(out, "%-12s %14s %13s\n",
                      mo_utf8_escape_controls(id, sizeof id,
                                              report->instance->device_ids[k]),
                      mo_format_us((double) sums.time_ns[k] / 1000, time),
                      room == INT64_MAX
                          ? "no limit"
                          : mo_format_bytes((double) room, memory));
    }
    put_origins_text(report->instance,
                     mo_min_int(report->instance->n_devices, MOST_SHOWN), out);
    put_transfers(report->instance, &sums, out);
    clear_totals(&sums);
    return MO_OK;
}

/* Writes microseconds exactly; a double would lose digits. */
static void json_us(mo_json_writer *w, const char *key, int64_t ns)
{
    int rest = (int) (ns % 1000), width = 3;

    mo_json_put_int(w, key, ns / 1000);
    if (rest == 0)
        return;
    for (; rest % 10 == 0; rest /= 10)
        width--;
    mo_out_printf(w->out, ".%0*d", width, rest);
}

static void json_list_us(mo_json_writer *w, const char *key, const int64_t *ns,
                         int n)
{
    mo_json_begin_array(w, key, MO_JSON_INLINE);
    for (int i = 0; i < n; i++)
        json_us(w, NULL, ns[i]);
    mo_json_end(w);
}

static void json_digest(mo_json_writer *w, const char *key, uint64_t digest)
{
    mo_json_put_key(w, key);
    mo_out_printf(w->out, "\"%016" PRIx64 "\"", digest);
}

static void json_head(const mo_report_instance *r, const instance_totals *sums,
                      mo_json_writer *w)
{
    const mo_instance *x = r->instance;
    char formats[MO_NUMERIC_TEXT];

    mo_json_put_text(w, "graph", r->graph);
    mo_json_put_text(w, "cluster", r->cluster);
    json_digest(w, "digest", x->digest);
    json_digest(w, "graph_digest", x->graph_digest);
    json_digest(w, "cluster_digest", x->cluster_digest);
    if (x->profile_digest)
        json_digest(w, "profile_digest", x->profile_digest);
    mo_numeric_write(&x->formats, formats);
    if (formats[0])
        mo_json_put_text(w, "formats", formats);
    mo_json_put_int(w, "ops", x->n);
    mo_json_put_int(w, "flows", x->n_flows);
    mo_json_put_int(w, "tensors", x->n_tensors);
    mo_json_put_int(w, "memory_bytes", sums->memory_bytes);
}

/* Writes a number of bytes, or null if it is the value given. */
static void json_bytes(mo_json_writer *w, const char *key, int64_t bytes,
                       int64_t null)
{
    if (bytes == null)
        mo_json_put_null(w, key);
    else
        mo_json_put_int(w, key, bytes);
}

static void json_op(const mo_instance *x, int op, mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "op", x->op_names[op]);
    mo_json_put_int(w, "memory_bytes", x->memory_bytes[op]);
    mo_json_put_int(w, "weight_bytes", x->weight_bytes[op]);
    if (x->pin[op] != MO_FREE)
        mo_json_put_text(w, "pin", x->device_ids[x->pin[op]]);
    if (x->group[op] != MO_FREE)
        mo_json_put_int(w, "group", x->group[op]);
    json_list_us(w, "time_us", x->p_ns + (int64_t) op * x->n_devices,
                 x->n_devices);
    put_op_origins_json(x, op, w);
    mo_json_end(w);
}

static void json_tensor(const mo_instance *x, int tensor, mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "from", x->op_names[x->tensor_from[tensor]]);
    json_bytes(w, "bytes", x->tensor_bytes[tensor], MO_UNKNOWN);
    mo_json_put_int(w, "transfer", x->comm.tensor_row[tensor]);
    mo_json_begin_array(w, "to", MO_JSON_INLINE);
    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "op", x->op_names[x->flows[q].to]);
        mo_json_put_int(w, "transfer", x->comm.flow_row[q]);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_end(w);
}

/* Writes the times of a "transfer", by pair class. */
static void json_transfer(const mo_instance *x, int row, mo_json_writer *w)
{
    json_list_us(w, NULL, x->comm.ns + (int64_t) row * x->comm.n_kinds,
                 x->comm.n_kinds);
}

/* Of one device with all others, itself included. */
static void json_kinds(const mo_instance *x, int from, mo_json_writer *w)
{
    mo_json_put_ints(w, NULL, x->comm.pair_kind + (int64_t) from * x->n_devices,
                     x->n_devices);
}

static void json_routes(const mo_instance *x, int from, mo_json_writer *w)
{
    mo_json_begin_array(w, NULL, MO_JSON_INLINE);
    for (int to = 0; to < x->n_devices; to++) {
        int n;
        const int *links = mo_instance_route(x, from, to, &n);

        mo_json_put_ints(w, NULL, links, n);
    }
    mo_json_end(w);
}

typedef void put_item(const mo_instance *x, int i, mo_json_writer *w);

static void json_items(const mo_instance *x, const char *key, put_item *put,
                       int n, mo_json_writer *w)
{
    mo_json_begin_array(w, key, MO_JSON_LINES);
    for (int i = 0; i < n; i++)
        put(x, i, w);
    mo_json_end(w);
}

mo_status mo_report_instance_json(const mo_report_instance *report, mo_out *out,
                                  mo_error *err)
{
    const mo_instance *x = report->instance;
    mo_json_writer w = { .out = out };
    instance_totals sums;
    mo_status status = make_totals(x, &sums, err);

    if (status != MO_OK)
        return status;
    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    json_head(report, &sums, &w);
    /* Transfer times are sums over all flows; rows and columns in device order.
     */
    mo_json_begin_array(&w, "devices", MO_JSON_BLOCK);
    for (int k = 0; k < x->n_devices; k++) {
        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "id", x->device_ids[k]);
        json_bytes(&w, "memory_bytes", x->capacity_bytes[k], INT64_MAX);
        json_us(&w, "time_us", sums.time_ns[k]);
        if (x->origins) {
            mo_json_begin_array(&w, "origins", MO_JSON_INLINE);
            for_each_sum(x, k, json_sum, &w);
            mo_json_end(&w);
        }
        mo_json_end(&w);
    }
    mo_json_end(&w);
    mo_json_begin_array(&w, "transfer_us", MO_JSON_BLOCK);
    for (int a = 0; a < x->n_devices; a++) {
        mo_json_begin_array(&w, NULL, MO_JSON_INLINE);
        for (int b = 0; b < x->n_devices; b++)
            json_us(&w, NULL, pair_total_ns(&sums, x, a, b));
        mo_json_end(&w);
    }
    mo_json_end(&w);
    clear_totals(&sums);
    mo_json_begin_object(&w, "instance", MO_JSON_LINES);
    json_items(x, "ops", json_op, x->n, &w);
    json_items(x, "tensors", json_tensor, x->n_tensors, &w);
    json_items(x, "transfers_us", json_transfer, x->comm.n_rows, &w);
    json_items(x, "pair_kinds", json_kinds, x->n_devices, &w);
    json_items(x, "routes", json_routes, x->n_devices, &w);
    mo_json_end(&w);
    mo_json_end(&w);
    return MO_OK;
}
