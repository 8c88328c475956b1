/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "report/instance_info.h"
#include "report/instance_totals.h"

/* Writes microseconds exactly; a double would lose digits. */
static void put_us(mo_out *out, int64_t ns)
{
    int rest = (int) (ns % 1000), width = 3;

    mo_out_int(out, ns / 1000);
    if (rest == 0)
        return;
    for (; rest % 10 == 0; rest /= 10)
        width--;
    mo_out_printf(out, ".%0*d", width, rest);
}

static void put_list_us(mo_out *out, const int64_t *ns, int n)
{
    mo_out_char(out, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_text(out, ", ");
        put_us(out, ns[i]);
    }
    mo_out_char(out, ']');
}

static void put_list(mo_out *out, const int *values, int n)
{
    mo_out_char(out, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_text(out, ", ");
        mo_out_int(out, values[i]);
    }
    mo_out_char(out, ']');
}

static void put_digest(mo_out *out, const char *key, uint64_t digest)
{
    mo_out_printf(out, ",\n  \"%s\": \"%016" PRIx64 "\"", key, digest);
}

static void put_head(const mo_report_instance *r,
                     const mo_report_instance_totals *sums, mo_out *out)
{
    const mo_instance *x = r->instance;

    mo_out_text(out, "{\n  \"graph\": ");
    mo_out_json(out, r->graph);
    mo_out_text(out, ",\n  \"cluster\": ");
    mo_out_json(out, r->cluster);
    put_digest(out, "digest", x->digest);
    put_digest(out, "graph_digest", x->graph_digest);
    put_digest(out, "cluster_digest", x->cluster_digest);
    if (x->profile_digest)
        put_digest(out, "profile_digest", x->profile_digest);
    mo_out_printf(out,
                  ",\n  \"ops\": %d,\n  \"flows\": %d,\n  \"tensors\": %d,\n"
                  "  \"memory_bytes\": %" PRId64 ",\n",
                  x->n, x->n_flows, x->n_tensors, sums->memory_bytes);
}

static void put_devices(const mo_instance *x,
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
        put_us(out, sums->time_ns[k]);
        mo_out_char(out, '}');
    }
    mo_out_text(out, "\n  ],\n");
}

/* Sums over all flows; rows and columns in device order. */
static void put_transfers(const mo_instance *x,
                          const mo_report_instance_totals *sums, mo_out *out)
{
    mo_out_text(out, "  \"transfer_us\": [");
    for (int a = 0; a < x->n_devices; a++) {
        mo_out_text(out, a ? ",\n    [" : "\n    [");
        for (int b = 0; b < x->n_devices; b++) {
            if (b > 0)
                mo_out_text(out, ", ");
            put_us(out, mo_report_instance_totals_pair_ns(sums, x, a, b));
        }
        mo_out_char(out, ']');
    }
    mo_out_text(out, "\n  ],\n");
}

static void put_op(const mo_instance *x, int op, mo_out *out)
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
    put_list_us(out, x->p_ns + (int64_t) op * x->n_devices, x->n_devices);
    mo_out_char(out, '}');
}

static void put_reader(const mo_instance *x, int flow, mo_out *out)
{
    mo_out_text(out, "{\"op\": ");
    mo_out_json(out, x->op_names[x->flows[flow].to]);
    mo_out_text(out, ", \"transfer\": ");
    mo_out_int(out, x->flow_row[flow]);
    mo_out_char(out, '}');
}

static void put_tensor(const mo_instance *x, int tensor, mo_out *out)
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
        put_reader(x, q, out);
    }
    mo_out_text(out, "]}");
}

/* Writes the times of a "transfer", by pair class. */
static void put_transfer(const mo_instance *x, int row, mo_out *out)
{
    put_list_us(out, x->comm_ns + (int64_t) row * x->n_kinds, x->n_kinds);
}

/* Of one device with all others, itself included. */
static void put_kinds(const mo_instance *x, int from, mo_out *out)
{
    put_list(out, x->pair_kind + (int64_t) from * x->n_devices, x->n_devices);
}

static void put_routes(const mo_instance *x, int from, mo_out *out)
{
    const int *start = x->route_start + (int64_t) from * x->n_devices;

    mo_out_char(out, '[');
    for (int to = 0; to < x->n_devices; to++) {
        if (to > 0)
            mo_out_text(out, ", ");
        put_list(out, x->route_link + start[to], start[to + 1] - start[to]);
    }
    mo_out_char(out, ']');
}

typedef void put_item(const mo_instance *x, int i, mo_out *out);

static void put_items(const mo_instance *x, const char *key, put_item *put,
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
    put_head(report, &sums, out);
    put_devices(x, &sums, out);
    put_transfers(x, &sums, out);
    mo_report_instance_totals_clear(&sums);
    mo_out_text(out, "  \"instance\": {\n");
    put_items(x, "ops", put_op, x->n, ",\n", out);
    put_items(x, "tensors", put_tensor, x->n_tensors, ",\n", out);
    put_items(x, "transfers_us", put_transfer, x->n_comm_rows, ",\n", out);
    put_items(x, "pair_kinds", put_kinds, x->n_devices, ",\n", out);
    put_items(x, "routes", put_routes, x->n_devices, "\n", out);
    mo_out_text(out, "  }\n}\n");
    return MO_OK;
}
