/* SPDX-License-Identifier: Apache-2.0 */
#include "report/instance_info.h"

#include <inttypes.h>

#include "base/json_writer.h"
#include "base/minmax.h"
#include "base/utf8.h"
#include "report/format_units.h"
#include "report/instance_totals.h"
#include "report/time_origins.h"

/* Limits: characters of names, devices across a page. */
enum { SHOWN_SIZE = 128, NAME_SIZE = 13, MOST_SHOWN = 16 };

static void put_count(mo_out *out, const char *what, int count)
{
    mo_out_printf(out, "%-12s%d\n", what, count);
}

static void put_head(const mo_report_instance *r,
                     const mo_report_instance_totals *sums, mo_out *out)
{
    const mo_instance *x = r->instance;
    char text[SHOWN_SIZE], formats[MO_NUMERIC_TEXT];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, r->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_escape_controls(text, sizeof text, r->cluster));
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", x->digest);
    mo_numeric_write(&x->formats, formats);
    if (formats[0])
        mo_out_printf(out, "%-12s%s\n", "formats", formats);
    put_count(out, "ops", x->n);
    put_count(out, "flows", x->n_flows);
    put_count(out, "tensors", x->n_tensors);
    mo_out_printf(out, "%-12s%s\n", "memory",
                  mo_format_bytes((double) sums->memory_bytes, text));
    mo_out_printf(out, "%-12s%d ops\n", "pinned", sums->n_pinned);
    mo_out_printf(out, "%-12s%d ops in %d groups\n", "colocated",
                  sums->n_grouped, x->n_groups);
}

static void put_devices(const mo_instance *x,
                        const mo_report_instance_totals *sums, mo_out *out)
{
    char id[SHOWN_SIZE], time[MO_FORMAT_SIZE], memory[MO_FORMAT_SIZE];

    mo_out_text(out, "\ndevice        all ops on it        memory\n");
    for (int k = 0; k < x->n_devices; k++) {
        int64_t room = x->capacity_bytes[k];

        mo_out_printf(out, "%-12s %14s %13s\n",
                      mo_utf8_escape_controls(id, sizeof id, x->device_ids[k]),
                      mo_format_us((double) sums->time_ns[k] / 1000, time),
                      room == INT64_MAX
                          ? "no limit"
                          : mo_format_bytes((double) room, memory));
    }
}

static void put_row(const mo_instance *x, const mo_report_instance_totals *sums,
                    int a, int n_shown, mo_out *out)
{
    char name[NAME_SIZE], time[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s",
                  mo_utf8_escape_controls(name, sizeof name, x->device_ids[a]));
    for (int b = 0; b < n_shown; b++) {
        double ns = (double) mo_report_instance_totals_pair_ns(sums, x, a, b);

        mo_out_printf(out, " %12s",
                      a == b ? "-" : mo_format_us(ns / 1000, time));
    }
    mo_out_char(out, '\n');
}

/* Writes a matrix, up to the width of a page. */
static void put_transfers(const mo_instance *x,
                          const mo_report_instance_totals *sums, mo_out *out)
{
    char name[NAME_SIZE];
    int n = x->n_devices < MOST_SHOWN ? x->n_devices : MOST_SHOWN;

    if (x->n_devices < 2)
        return;
    mo_out_text(out, "\nall flows from (row) to (column)\n            ");
    for (int b = 0; b < n; b++)
        mo_out_printf(
            out, " %12s",
            mo_utf8_escape_controls(name, sizeof name, x->device_ids[b]));
    mo_out_char(out, '\n');
    for (int a = 0; a < n; a++)
        put_row(x, sums, a, n, out);
    if (n < x->n_devices)
        mo_out_printf(out, "and %d more devices\n", x->n_devices - n);
}

mo_status mo_report_instance_text(const mo_report_instance *report, mo_out *out,
                                  mo_error *err)
{
    mo_report_instance_totals sums;
    mo_status status =
        mo_report_instance_totals_make(report->instance, &sums, err);

    if (status != MO_OK)
        return status;
    put_head(report, &sums, out);
    put_devices(report->instance, &sums, out);
    mo_report_time_origins_text(
        report->instance, mo_min_int(report->instance->n_devices, MOST_SHOWN),
        out);
    put_transfers(report->instance, &sums, out);
    mo_report_instance_totals_clear(&sums);
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

static void json_head(const mo_report_instance *r,
                      const mo_report_instance_totals *sums, mo_json_writer *w)
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

/* Transfer times are sums over all flows; rows and columns in device order. */
static void json_devices(const mo_instance *x,
                         const mo_report_instance_totals *sums,
                         mo_json_writer *w)
{
    mo_json_begin_array(w, "devices", MO_JSON_BLOCK);
    for (int k = 0; k < x->n_devices; k++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "id", x->device_ids[k]);
        json_bytes(w, "memory_bytes", x->capacity_bytes[k], INT64_MAX);
        json_us(w, "time_us", sums->time_ns[k]);
        mo_report_time_origins_json(x, k, w);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_begin_array(w, "transfer_us", MO_JSON_BLOCK);
    for (int a = 0; a < x->n_devices; a++) {
        mo_json_begin_array(w, NULL, MO_JSON_INLINE);
        for (int b = 0; b < x->n_devices; b++)
            json_us(w, NULL, mo_report_instance_totals_pair_ns(sums, x, a, b));
        mo_json_end(w);
    }
    mo_json_end(w);
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
    mo_report_time_origins_op_json(x, op, w);
    mo_json_end(w);
}

static void json_tensor(const mo_instance *x, int tensor, mo_json_writer *w)
{
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "from", x->op_names[x->tensor_from[tensor]]);
    json_bytes(w, "bytes", x->tensor_bytes[tensor], MO_UNKNOWN);
    mo_json_put_int(w, "transfer", x->tensor_row[tensor]);
    mo_json_begin_array(w, "to", MO_JSON_INLINE);
    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "op", x->op_names[x->flows[q].to]);
        mo_json_put_int(w, "transfer", x->flow_row[q]);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_end(w);
}

/* Writes the times of a "transfer", by pair class. */
static void json_transfer(const mo_instance *x, int row, mo_json_writer *w)
{
    json_list_us(w, NULL, x->comm_ns + (int64_t) row * x->n_kinds, x->n_kinds);
}

/* Of one device with all others, itself included. */
static void json_kinds(const mo_instance *x, int from, mo_json_writer *w)
{
    mo_json_put_ints(w, NULL, x->pair_kind + (int64_t) from * x->n_devices,
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
    mo_report_instance_totals sums;
    mo_status status = mo_report_instance_totals_make(x, &sums, err);

    if (status != MO_OK)
        return status;
    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    json_head(report, &sums, &w);
    json_devices(x, &sums, &w);
    mo_report_instance_totals_clear(&sums);
    mo_json_begin_object(&w, "instance", MO_JSON_LINES);
    json_items(x, "ops", json_op, x->n, &w);
    json_items(x, "tensors", json_tensor, x->n_tensors, &w);
    json_items(x, "transfers_us", json_transfer, x->n_comm_rows, &w);
    json_items(x, "pair_kinds", json_kinds, x->n_devices, &w);
    json_items(x, "routes", json_routes, x->n_devices, &w);
    mo_json_end(&w);
    mo_json_end(&w);
    return MO_OK;
}
