/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph_info.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "report/format_units.h"
#include "report/top_ops.h"

enum { SHOWN_SIZE = 128 }; /* of a name; longer ones end in "..." */

static void put_number(mo_out *out, const char *what, int number)
{
    mo_out_printf(out, "%-12s%d\n", what, number);
}

static void put_origin(const mo_report_graph *d, mo_out *out)
{
    char file[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(file, sizeof file, d->file));
    mo_out_printf(out, "%-12s%s\n", "format", d->format);
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", d->digest);
}

static void put_structure(const mo_summary *s, mo_out *out)
{
    put_number(out, "ops", s->ops);
    put_number(out, "constants", s->constants);
    put_number(out, "edges", s->edges);
    put_number(out, "tensors", s->tensors);
    put_number(out, "sources", s->sources);
    put_number(out, "sinks", s->sinks);
    put_number(out, "components", s->components);
    put_number(out, "depth", s->depth);
    put_number(out, "width", s->width);
    if (s->clean_cuts == 0)
        put_number(out, "clean cuts", 0);
    else
        mo_out_printf(out, "%-12s%d, at most %d ops between\n", "clean cuts",
                      s->clean_cuts, s->largest_segment);
}

static void put_flops(const mo_summary *s, mo_out *out)
{
    char text[MO_FORMAT_SIZE];
    int known = s->ops - s->ops_without_flops;

    mo_out_printf(out, "%-12s%s", "flops",
                  mo_format_flops(known ? s->flops : MO_UNKNOWN, text));
    if (known && s->flops >= 0 && s->ops_without_flops > 0)
        mo_out_printf(out, ", known for %d of %d ops", known, s->ops);
    mo_out_char(out, '\n');
}

/* Whether any weight is known: a sum of 0 may also mean that none is. */
static bool knows_weights(const mo_graph *g)
{
    for (int i = 0; i < g->n_ops; i++)
        if (g->ops[i].weight_bytes >= 0)
            return true;
    return g->n_constants > 0;
}

/* The memory of an op is the sum of its known parts, hence never unknown. */
static bool knows_memory(const mo_graph *g)
{
    for (int i = 0; i < g->n_ops; i++)
        if (g->ops[i].memory_bytes > 0)
            return true;
    return knows_weights(g);
}

static bool knows_tensor_sizes(const mo_graph *g)
{
    for (int i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].bytes >= 0)
            return true;
    return false;
}

static bool knows_traffic(const mo_graph *g)
{
    for (int i = 0; i < g->n_ops; i++)
        if (g->ops[i].bytes >= 0)
            return true;
    return false;
}

static void put_bytes(mo_out *out, const char *what, bool known, double bytes)
{
    char text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%s\n", what,
                  mo_format_bytes(known ? bytes : MO_UNKNOWN, text));
}

static void put_amounts(const mo_graph *g, const mo_summary *s, mo_out *out)
{
    put_bytes(out, "weights", knows_weights(g), (double) s->weight_bytes);
    put_bytes(out, "memory", knows_memory(g), (double) s->memory_bytes);
    put_bytes(out, "tensor size", knows_tensor_sizes(g),
              (double) s->tensor_bytes);
    put_flops(s, out);
    put_bytes(out, "traffic", knows_traffic(g), s->bytes);
}

static void put_heavy_op(const mo_graph *g, int op, const char *weight,
                         mo_out *out)
{
    char type[SHOWN_SIZE], name[SHOWN_SIZE];
    const char *written = g->ops[op].type;

    mo_out_printf(
        out, "%12s  %-20s %s\n", weight,
        mo_utf8_escape_controls(type, sizeof type, written ? written : "-"),
        mo_utf8_escape_controls(name, sizeof name, g->ops[op].name));
}

static void put_heaviest(const mo_graph *g, const mo_report_top_ops *h,
                         mo_out *out)
{
    char weight[MO_FORMAT_SIZE];

    if (h->n == 0)
        return;
    mo_out_printf(out, "\nheaviest ops by %s\n", h->by->title);
    for (int i = 0; i < h->n; i++)
        put_heavy_op(g, h->ops[i], h->by->show(h->weights[i], weight), out);
}

static void put_operators(const mo_summary *s, mo_out *out)
{
    char type[SHOWN_SIZE];

    if (s->n_types == 0)
        return;
    mo_out_text(out, "\noperators\n");
    for (int i = 0; i < s->n_types; i++) {
        const mo_type_count *t = &s->types[i];

        mo_out_printf(out, "%12d  %s\n", t->count,
                      mo_utf8_escape_controls(type, sizeof type,
                                              *t->type ? t->type : "-"));
    }
}

mo_status mo_report_graph_text(const mo_report_graph *description, mo_out *out,
                               mo_error *err)
{
    mo_report_top_ops heaviest;
    mo_status status = mo_report_top_ops_find(
        description->graph, description->summary, &heaviest, err);

    if (status != MO_OK)
        return status;
    put_origin(description, out);
    put_structure(description->summary, out);
    put_amounts(description->graph, description->summary, out);
    put_heaviest(description->graph, &heaviest, out);
    put_operators(description->summary, out);
    return MO_OK;
}

/* --------------------------------------------------------------------- JSON */

/* Every member ends its line, and all but the last end in a comma. */
static void json_int(mo_out *out, const char *key, int64_t value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_int(out, value);
    mo_out_text(out, ",\n");
}

static void json_text(mo_out *out, const char *key, const char *value)
{
    mo_out_printf(out, "  \"%s\": ", key);
    mo_out_json(out, value);
    mo_out_text(out, ",\n");
}

/* Writes a number, or null if it is unknown. */
static void json_amount(mo_out *out, double value)
{
    if (value < 0)
        mo_out_text(out, "null");
    else
        mo_out_double(out, value);
}

static void json_text_or_null(mo_out *out, const char *text)
{
    if (text)
        mo_out_json(out, text);
    else
        mo_out_text(out, "null");
}

static void json_structure(const mo_summary *s, mo_out *out)
{
    json_int(out, "ops", s->ops);
    json_int(out, "constants", s->constants);
    json_int(out, "edges", s->edges);
    json_int(out, "tensors", s->tensors);
    json_int(out, "sources", s->sources);
    json_int(out, "sinks", s->sinks);
    json_int(out, "components", s->components);
    json_int(out, "depth", s->depth);
    json_int(out, "width", s->width);
    json_int(out, "clean_cuts", s->clean_cuts);
    json_int(out, "largest_segment", s->largest_segment);
}

static void json_bytes(mo_out *out, const char *key, int64_t bytes)
{
    if (bytes == MO_UNKNOWN)
        mo_out_printf(out, "  \"%s\": null,\n", key);
    else
        json_int(out, key, bytes);
}

static void json_amounts(const mo_summary *s, mo_out *out)
{
    json_bytes(out, "weight_bytes", s->weight_bytes);
    json_bytes(out, "memory_bytes", s->memory_bytes);
    json_bytes(out, "tensor_bytes", s->tensor_bytes);
    mo_out_text(out, "  \"flops\": ");
    json_amount(out, s->flops);
    mo_out_text(out, ",\n  \"bytes\": ");
    json_amount(out, s->bytes);
    mo_out_text(out, ",\n");
    json_int(out, "ops_without_flops", s->ops_without_flops);
}

static void json_heavy_op(const mo_graph *g, const mo_report_top_ops *h, int i,
                         mo_out *out)
{
    const mo_op *op = &g->ops[h->ops[i]];

    mo_out_text(out, "\n    {\"op\": ");
    mo_out_json(out, op->name);
    mo_out_text(out, ", \"type\": ");
    json_text_or_null(out, op->type);
    mo_out_text(out, ", \"flops\": ");
    json_amount(out, op->flops);
    mo_out_text(out, ", \"bytes\": ");
    json_amount(out, op->bytes);
    if (strcmp(h->by->key, "flops") != 0) {
        mo_out_printf(out, ", \"%s\": ", h->by->key);
        mo_out_double(out, h->weights[i]);
    }
    mo_out_char(out, '}');
}

static void json_heaviest(const mo_graph *g, const mo_report_top_ops *h,
                         mo_out *out)
{
    mo_out_text(out, "  \"heaviest_by\": ");
    json_text_or_null(out, h->by ? h->by->key : NULL);
    mo_out_text(out, ",\n  \"heaviest\": [");
    for (int i = 0; i < h->n; i++) {
        if (i > 0)
            mo_out_char(out, ',');
        json_heavy_op(g, h, i, out);
    }
    mo_out_text(out, h->n ? "\n  ],\n" : "],\n");
}

/* Ops without a type count under "". */
static void json_operators(const mo_summary *s, mo_out *out)
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
    json_text(out, "graph", d->file);
    json_text(out, "format", d->format);
    mo_out_printf(out, "  \"digest\": \"%016" PRIx64 "\",\n", d->digest);
    json_structure(d->summary, out);
    json_amounts(d->summary, out);
    json_heaviest(d->graph, &heaviest, out);
    json_operators(d->summary, out);
    mo_out_text(out, "}\n");
    return MO_OK;
}
