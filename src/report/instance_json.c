#include <inttypes.h>

#include "report/instance.h"
#include "report/instance_sums.h"

static void put_us(mo_out *out, double ns)
{
    mo_out_double(out, ns / 1000);
}

static void put_head(const mo_instance_report *r, mo_out *out)
{
    const mo_instance *x = r->instance;

    mo_out_text(out, "{\n  \"graph\": ");
    mo_out_json(out, r->graph);
    mo_out_text(out, ",\n  \"cluster\": ");
    mo_out_json(out, r->cluster);
    mo_out_printf(out,
                  ",\n  \"digest\": \"%016" PRIx64 "\",\n"
                  "  \"n_ops\": %d,\n  \"n_flows\": %d,\n"
                  "  \"n_tensors\": %d,\n",
                  x->digest, x->n, x->n_flows, x->n_tensors);
}

static void put_devices(const mo_instance *x, mo_out *out)
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
        put_us(out, mo_instance_time_ns(x, k));
        mo_out_char(out, '}');
    }
    mo_out_text(out, "\n  ],\n");
}

/* Sums over all flows; rows and columns in the order of the devices. */
static void put_transfers(const mo_instance *x, mo_out *out)
{
    mo_out_text(out, "  \"transfer_us\": [");
    for (int a = 0; a < x->n_devices; a++) {
        mo_out_text(out, a ? ",\n    [" : "\n    [");
        for (int b = 0; b < x->n_devices; b++) {
            if (b > 0)
                mo_out_text(out, ", ");
            put_us(out, mo_instance_transfer_ns(x, a, b));
        }
        mo_out_char(out, ']');
    }
    mo_out_text(out, "\n  ],\n");
}

static void put_binding(const mo_instance *x, int op, mo_out *out)
{
    if (x->pin[op] != MO_FREE) {
        mo_out_text(out, ", \"pin\": ");
        mo_out_json(out, x->device_ids[x->pin[op]]);
    }
    if (x->group[op] != MO_FREE)
        mo_out_printf(out, ", \"group\": %d", x->group[op]);
}

static void put_ops(const mo_instance *x, mo_out *out)
{
    mo_out_text(out, "  \"ops\": [");
    for (int i = 0; i < x->n; i++) {
        mo_out_text(out, i ? ",\n    {\"op\": " : "\n    {\"op\": ");
        mo_out_json(out, x->op_names[i]);
        mo_out_text(out, ", \"memory_bytes\": ");
        mo_out_int(out, x->memory_bytes[i]);
        put_binding(x, i, out);
        mo_out_text(out, ", \"time_us\": [");
        for (int k = 0; k < x->n_devices; k++) {
            if (k > 0)
                mo_out_text(out, ", ");
            put_us(out, (double) mo_instance_p_ns(x, i, k));
        }
        mo_out_text(out, "]}");
    }
    mo_out_text(out, x->n ? "\n  ],\n" : "],\n");
}

static void put_reader(const mo_instance *x, int flow, mo_out *out)
{
    mo_out_text(out, "{\"op\": ");
    mo_out_json(out, x->op_names[x->flows[flow].to]);
    mo_out_printf(out, ", \"transfer\": %d}", x->flow_row[flow]);
}

static void put_tensors(const mo_instance *x, mo_out *out)
{
    mo_out_text(out, "  \"tensors\": [");
    for (int t = 0; t < x->n_tensors; t++) {
        mo_out_text(out, t ? ",\n    {\"from\": " : "\n    {\"from\": ");
        mo_out_json(out, x->op_names[x->tensor_from[t]]);
        mo_out_printf(out, ", \"transfer\": %d, \"to\": [",
                      x->tensor_row[t]);
        for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++) {
            if (q > x->tensor_start[t])
                mo_out_text(out, ", ");
            put_reader(x, q, out);
        }
        mo_out_text(out, "]}");
    }
    mo_out_text(out, x->n_tensors ? "\n  ],\n" : "],\n");
}

/* What "transfer" points to, of a tensor sent once or to one reader: times, a row
 * per sender. */
static void put_rows(const mo_instance *x, mo_out *out)
{
    const int64_t *ns = x->comm_ns;

    mo_out_text(out, "  \"transfers_us\": [");
    for (int r = 0; r < x->n_comm_rows; r++) {
        mo_out_text(out, r ? ",\n    [" : "\n    [");
        for (int a = 0; a < x->n_devices; a++) {
            mo_out_text(out, a ? ", [" : "[");
            for (int b = 0; b < x->n_devices; b++) {
                if (b > 0)
                    mo_out_text(out, ", ");
                put_us(out, (double) *ns++);
            }
            mo_out_char(out, ']');
        }
        mo_out_char(out, ']');
    }
    mo_out_text(out, x->n_comm_rows ? "\n  ]\n" : "]\n");
}

void mo_instance_json(const mo_instance_report *report, mo_out *out)
{
    put_head(report, out);
    put_devices(report->instance, out);
    put_transfers(report->instance, out);
    put_ops(report->instance, out);
    put_tensors(report->instance, out);
    put_rows(report->instance, out);
    mo_out_text(out, "}\n");
}
