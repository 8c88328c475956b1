/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph_info.h"

#include <inttypes.h>
#include <string.h>

#include "report/top_ops.h"

/* Every member ends its line, and all but the last end in a comma. */
static void put_int(mo_out *out, const char *key, int64_t value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_int(out, value);
    mo_out_text(out, ",\n");
}

static void put_text(mo_out *out, const char *key, const char *value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_json(out, value);
    mo_out_text(out, ",\n");
}

/* Writes a number, or null if it is unknown. */
static void put_amount(mo_out *out, double value)
{
    if (value < 0)
        mo_out_text(out, "null");
    else
        mo_out_double(out, value);
}

static void put_text_or_null(mo_out *out, const char *text)
{
    if (text)
        mo_out_json(out, text);
    else
        mo_out_text(out, "null");
}

static void put_structure(const mo_summary *s, mo_out *out)
{
    put_int(out, "ops", s->ops);
    put_int(out, "constants", s->constants);
    put_int(out, "edges", s->edges);
    put_int(out, "tensors", s->tensors);
    put_int(out, "sources", s->sources);
    put_int(out, "sinks", s->sinks);
    put_int(out, "components", s->components);
    put_int(out, "depth", s->depth);
    put_int(out, "width", s->width);
    put_int(out, "clean_cuts", s->clean_cuts);
    put_int(out, "largest_segment", s->largest_segment);
}

static void put_bytes(mo_out *out, const char *key, int64_t bytes)
{
    if (bytes == MO_UNKNOWN)
        mo_out_printf(out, "  \"%s\": null,\n", key);
    else
        put_int(out, key, bytes);
}

static void put_amounts(const mo_summary *s, mo_out *out)
{
    put_bytes(out, "weight_bytes", s->weight_bytes);
    put_bytes(out, "memory_bytes", s->memory_bytes);
    put_bytes(out, "tensor_bytes", s->tensor_bytes);
    mo_out_text(out, "  \"flops\": ");
    put_amount(out, s->flops);
    mo_out_text(out, ",\n  \"bytes\": ");
    put_amount(out, s->bytes);
    mo_out_text(out, ",\n");
    put_int(out, "ops_without_flops", s->ops_without_flops);
}

static void put_heavy_op(const mo_graph *g, const mo_report_top_ops *h, int i,
                         mo_out *out)
{
    const mo_op *op = &g->ops[h->ops[i]];

    mo_out_text(out, "\n    {\"op\": ");
    mo_out_json(out, op->name);
    mo_out_text(out, ", \"type\": ");
    put_text_or_null(out, op->type);
    mo_out_text(out, ", \"flops\": ");
    put_amount(out, op->flops);
    mo_out_text(out, ", \"bytes\": ");
    put_amount(out, op->bytes);
    if (strcmp(h->by->key, "flops") != 0) {
        mo_out_printf(out, ", \"%s\": ", h->by->key);
        mo_out_double(out, h->weights[i]);
    }
    mo_out_char(out, '}');
}

static void put_heaviest(const mo_graph *g, const mo_report_top_ops *h,
                         mo_out *out)
{
    mo_out_text(out, "  \"heaviest_by\": ");
    put_text_or_null(out, h->by ? h->by->key : NULL);
    mo_out_text(out, ",\n  \"heaviest\": [");
    for (int i = 0; i < h->n; i++) {
        if (i > 0)
            mo_out_char(out, ',');
        put_heavy_op(g, h, i, out);
    }
    mo_out_text(out, h->n ? "\n  ],\n" : "],\n");
}

/* Ops without a type count under "". */
static void put_operators(const mo_summary *s, mo_out *out)
{
    mo_out_text(out, "  \"operators\": {");
    for (int i = 0; i < s->n_types; i++) {
        mo_out_text(out, i ? ",\n    " : "\n    ");
        mo_out_json(out, s->types[i].type);
        mo_out_text(out, ": ");
        mo_out_int(out, s->types[i].count);
    }
    mo_out_text(out, s->n_types ? "\n  }\n" : "}\n");
}

mo_status mo_report_graph_json(const mo_report_graph *description, mo_out *out,
                               mo_error *err)
{
    const mo_report_graph *d = description;
    mo_report_top_ops heaviest;
    mo_status status =
        mo_report_top_ops_find(d->graph, d->summary, &heaviest, err);

    if (status != MO_OK)
        return status;
    mo_out_text(out, "{\n");
    put_text(out, "graph", d->file);
    put_text(out, "format", d->format);
    mo_out_printf(out, "  \"digest\": \"%016" PRIx64 "\",\n", d->digest);
    put_structure(d->summary, out);
    put_amounts(d->summary, out);
    put_heaviest(d->graph, &heaviest, out);
    put_operators(d->summary, out);
    mo_out_text(out, "}\n");
    return MO_OK;
}
