/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph_info.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/json_writer.h"
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

/* Writes a number, or null if it is unknown. */
static void json_amount(mo_json_writer *w, const char *key, double value)
{
    if (value < 0)
        mo_json_put_null(w, key);
    else
        mo_json_put_double(w, key, value);
}

static void json_bytes(mo_json_writer *w, const char *key, int64_t bytes)
{
    if (bytes == MO_UNKNOWN)
        mo_json_put_null(w, key);
    else
        mo_json_put_int(w, key, bytes);
}

static void json_summary(const mo_summary *s, mo_json_writer *w)
{
    mo_json_put_int(w, "ops", s->ops);
    mo_json_put_int(w, "constants", s->constants);
    mo_json_put_int(w, "edges", s->edges);
    mo_json_put_int(w, "tensors", s->tensors);
    mo_json_put_int(w, "sources", s->sources);
    mo_json_put_int(w, "sinks", s->sinks);
    mo_json_put_int(w, "components", s->components);
    mo_json_put_int(w, "depth", s->depth);
    mo_json_put_int(w, "width", s->width);
    mo_json_put_int(w, "clean_cuts", s->clean_cuts);
    mo_json_put_int(w, "largest_segment", s->largest_segment);
    json_bytes(w, "weight_bytes", s->weight_bytes);
    json_bytes(w, "memory_bytes", s->memory_bytes);
    json_bytes(w, "tensor_bytes", s->tensor_bytes);
    json_amount(w, "flops", s->flops);
    json_amount(w, "bytes", s->bytes);
    mo_json_put_int(w, "ops_without_flops", s->ops_without_flops);
}

static void json_heavy_op(const mo_graph *g, const mo_report_top_ops *h, int i,
                          mo_json_writer *w)
{
    const mo_op *op = &g->ops[h->ops[i]];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "op", op->name);
    mo_json_put_text(w, "type", op->type);
    json_amount(w, "flops", op->flops);
    json_amount(w, "bytes", op->bytes);
    if (strcmp(h->by->key, "flops") != 0)
        mo_json_put_double(w, h->by->key, h->weights[i]);
    mo_json_end(w);
}

mo_status mo_report_graph_json(const mo_report_graph *description, mo_out *out,
                               mo_error *err)
{
    const mo_report_graph *d = description;
    const mo_summary *s = d->summary;
    mo_json_writer w = { .out = out };
    mo_report_top_ops heaviest;
    mo_status status = mo_report_top_ops_find(d->graph, s, &heaviest, err);

    if (status != MO_OK)
        return status;
    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", d->file);
    mo_json_put_text(&w, "format", d->format);
    mo_json_put_key(&w, "digest");
    mo_out_printf(out, "\"%016" PRIx64 "\"", d->digest);
    json_summary(s, &w);
    mo_json_put_text(&w, "heaviest_by", heaviest.by ? heaviest.by->key : NULL);
    mo_json_begin_array(&w, "heaviest", MO_JSON_LINES);
    for (int i = 0; i < heaviest.n; i++)
        json_heavy_op(d->graph, &heaviest, i, &w);
    mo_json_end(&w);
    /* Ops without a type count under "". */
    mo_json_begin_object(&w, "operators", MO_JSON_LINES);
    for (int i = 0; i < s->n_types; i++)
        mo_json_put_int(&w, s->types[i].type, s->types[i].count);
    mo_json_end(&w);
    mo_json_end(&w);
    return MO_OK;
}
