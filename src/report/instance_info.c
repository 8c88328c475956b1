/* SPDX-License-Identifier: Apache-2.0 */
#include "report/instance_info.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "report/format_units.h"
#include "report/instance_totals.h"

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
    char text[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, r->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_escape_controls(text, sizeof text, r->cluster));
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", x->digest);
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
    put_transfers(report->instance, &sums, out);
    mo_report_instance_totals_clear(&sums);
    return MO_OK;
}

/* --------------------------------------------------------------------- JSON */

/* Writes microseconds exactly; a double would lose digits. */
static void json_us(mo_out *out, int64_t ns)
{
    int rest = (int) (ns % 1000), width = 3;

    mo_out_int(out, ns / 1000);
    if (rest == 0)
        return;
    for (; rest % 10 == 0; rest /= 10)
        width--;
    mo_out_printf(out, ".%0*d", width, rest);
}

static void json_list_us(mo_out *out, const int64_t *ns, int n)
{
    mo_out_char(out, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_text(out, ", ");
        json_us(out, ns[i]);
    }
    mo_out_char(out, ']');
}

static void json_list(mo_out *out, const int *values, int n)
{
    mo_out_char(out, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_text(out, ", ");
        mo_out_int(out, values[i]);
    }
    mo_out_char(out, ']');
}

static void json_digest(mo_out *out, const char *key, uint64_t digest)
{
    mo_out_printf(out, ",\n  \"%s\": \"%016" PRIx64 "\"", key, digest);
}

static void json_head(const mo_report_instance *r,
                      const mo_report_instance_totals *sums, mo_out *out)
{
    const mo_instance *x = r->instance;

    mo_out_text(out, "{\n  \"graph\": ");
    mo_out_json(out, r->graph);
    mo_out_text(out, ",\n  \"cluster\": ");
    mo_out_json(out, r->cluster);
    json_digest(out, "digest", x->digest);
    json_digest(out, "graph_digest", x->graph_digest);
    json_digest(out, "cluster_digest", x->cluster_digest);
    if (x->profile_digest)
        json_digest(out, "profile_digest", x->profile_digest);
    mo_out_printf(out,
                  ",\n  \"ops\": %d,\n  \"flows\": %d,\n  \"tensors\": %d,\n"
                  "  \"memory_bytes\": %" PRId64 ",\n",
                  x->n, x->n_flows, x->n_tensors, sums->memory_bytes);
}

static void json_devices(const mo_instance *x,
                         const mo_report_instance_totals *sums, mo_out *out)
{
    mo_out_text(out, "  \"devices\": [");
    for (int k = 0; k < x->n_devices; k++) {
        mo_out_text(out, k ? ",\n    {\"id\": " : "\n    {\"id\": ");
        mo_out_json(out, x->device_ids[k]);
        mo_out_text(out, ", \"memory_bytes\": ");
        if (x->capacity_bytes[k] == INT64_MAX)
            mo_out_text(out, "null");
        else
            mo_out_int(out, x->capacity_bytes[k]);
        mo_out_text(out, ", \"time_us\": ");
        json_us(out, sums->time_ns[k]);
        mo_out_char(out, '}');
    }
    mo_out_text(out, "\n  ],\n");
}

/* Sums over all flows; rows and columns in device order. */
static void json_transfers(const mo_instance *x,
                           const mo_report_instance_totals *sums, mo_out *out)
{
    mo_out_text(out, "  \"transfer_us\": [");
    for (int a = 0; a < x->n_devices; a++) {
        mo_out_text(out, a ? ",\n    [" : "\n    [");
        for (int b = 0; b < x->n_devices; b++) {
            if (b > 0)
                mo_out_text(out, ", ");
            json_us(out, mo_report_instance_totals_pair_ns(sums, x, a, b));
        }
        mo_out_char(out, ']');
    }
    mo_out_text(out, "\n  ],\n");
}

static void json_op(const mo_instance *x, int op, mo_out *out)
{
    mo_out_text(out, "{\"op\": ");
    mo_out_json(out, x->op_names[op]);
    mo_out_text(out, ", \"memory_bytes\": ");
    mo_out_int(out, x->memory_bytes[op]);
    mo_out_text(out, ", \"weight_bytes\": ");
    mo_out_int(out, x->weight_bytes[op]);
    if (x->pin[op] != MO_FREE) {
        mo_out_text(out, ", \"pin\": ");
        mo_out_json(out, x->device_ids[x->pin[op]]);
    }
    if (x->group[op] != MO_FREE) {
        mo_out_text(out, ", \"group\": ");
        mo_out_int(out, x->group[op]);
    }
    mo_out_text(out, ", \"time_us\": ");
    json_list_us(out, x->p_ns + (int64_t) op * x->n_devices, x->n_devices);
    mo_out_char(out, '}');
}

static void json_reader(const mo_instance *x, int flow, mo_out *out)
{
    mo_out_text(out, "{\"op\": ");
    mo_out_json(out, x->op_names[x->flows[flow].to]);
    mo_out_text(out, ", \"transfer\": ");
    mo_out_int(out, x->flow_row[flow]);
    mo_out_char(out, '}');
}

static void json_tensor(const mo_instance *x, int tensor, mo_out *out)
{
    int first = x->tensor_start[tensor], last = x->tensor_start[tensor + 1];

    mo_out_text(out, "{\"from\": ");
    mo_out_json(out, x->op_names[x->tensor_from[tensor]]);
    mo_out_text(out, ", \"bytes\": ");
    if (x->tensor_bytes[tensor] == MO_UNKNOWN)
        mo_out_text(out, "null");
    else
        mo_out_int(out, x->tensor_bytes[tensor]);
    mo_out_text(out, ", \"transfer\": ");
    mo_out_int(out, x->tensor_row[tensor]);
    mo_out_text(out, ", \"to\": [");
    for (int q = first; q < last; q++) {
        if (q > first)
            mo_out_text(out, ", ");
        json_reader(x, q, out);
    }
    mo_out_text(out, "]}");
}

/* Writes the times of a "transfer", by pair class. */
static void json_transfer(const mo_instance *x, int row, mo_out *out)
{
    json_list_us(out, x->comm_ns + (int64_t) row * x->n_kinds, x->n_kinds);
}

/* Of one device with all others, itself included. */
static void json_kinds(const mo_instance *x, int from, mo_out *out)
{
    json_list(out, x->pair_kind + (int64_t) from * x->n_devices, x->n_devices);
}

static void json_routes(const mo_instance *x, int from, mo_out *out)
{
    const int *start = x->route_start + (int64_t) from * x->n_devices;

    mo_out_char(out, '[');
    for (int to = 0; to < x->n_devices; to++) {
        if (to > 0)
            mo_out_text(out, ", ");
        json_list(out, x->route_link + start[to], start[to + 1] - start[to]);
    }
    mo_out_char(out, ']');
}

typedef void put_item(const mo_instance *x, int i, mo_out *out);

static void json_items(const mo_instance *x, const char *key, put_item *put,
                       int n, const char *end, mo_out *out)
{
    mo_out_printf(out, "    \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        mo_out_text(out, i ? ",\n      " : "\n      ");
        put(x, i, out);
    }
    mo_out_text(out, n ? "\n    ]" : "]");
    mo_out_text(out, end);
}

mo_status mo_report_instance_json(const mo_report_instance *report, mo_out *out,
                                  mo_error *err)
{
    const mo_instance *x = report->instance;
    mo_report_instance_totals sums;
    mo_status status = mo_report_instance_totals_make(x, &sums, err);

    if (status != MO_OK)
        return status;
    json_head(report, &sums, out);
    json_devices(x, &sums, out);
    json_transfers(x, &sums, out);
    mo_report_instance_totals_clear(&sums);
    mo_out_text(out, "  \"instance\": {\n");
    json_items(x, "ops", json_op, x->n, ",\n", out);
    json_items(x, "tensors", json_tensor, x->n_tensors, ",\n", out);
    json_items(x, "transfers_us", json_transfer, x->n_comm_rows, ",\n", out);
    json_items(x, "pair_kinds", json_kinds, x->n_devices, ",\n", out);
    json_items(x, "routes", json_routes, x->n_devices, "\n", out);
    mo_out_text(out, "  }\n}\n");
    return MO_OK;
}
