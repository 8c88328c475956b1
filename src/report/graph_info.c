/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph_info.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "graph/phases.h"
#include "ingest/infer/dims.h"
#include "ingest/llm/summary.h"
#include "ingest/state.h"
#include "report/format_units.h"

enum { SHOWN_SIZE = 128 }; /* of a name; longer ones end in "..." */

static void put_number(mo_out *out, const char *what, int number)
{
    mo_out_printf(out, "%-12s%d\n", what, number);
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

static void put_heaviest(const mo_graph *g, const mo_report_top_ops *h,
                         mo_out *out)
{
    char weight[MO_FORMAT_SIZE];

    if (h->n == 0)
        return;
    mo_out_printf(out, "\nheaviest ops by %s\n", h->by->title);
    for (int i = 0; i < h->n; i++) {
        int op = h->ops[i];
        char type[SHOWN_SIZE], name[SHOWN_SIZE];
        const char *written = g->ops[op].type;

        mo_out_printf(
            out, "%12s  %-20s %s\n", h->by->show(h->weights[i], weight),
            mo_utf8_escape_controls(type, sizeof type, written ? written : "-"),
            mo_utf8_escape_controls(name, sizeof name, g->ops[op].name));
    }
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

/* "24 of attention, 20 with a window of 512 tokens, 4 recurrent" */
static void put_layers(const mo_llm_summary *s, mo_out *out)
{
    mo_out_printf(out, "%-12s%d: %d of attention", "layers", s->layers,
                  s->attention_layers);
    if (s->window_layers > 0)
        mo_out_printf(out, ", of these %d with a window of %" PRId64 " tokens",
                      s->window_layers, s->window);
    if (s->recurrent_layers > 0)
        mo_out_printf(out, ", %d recurrent", s->recurrent_layers);
    if (s->draft_layers > 0)
        mo_out_printf(out, "; and %d for speculative decoding, left out",
                      s->draft_layers);
    mo_out_char(out, '\n');
}

static void put_phases(const mo_phases *phases, mo_out *out)
{
    char text[MO_FORMAT_SIZE], name[SHOWN_SIZE];

    for (int p = 0; phases && p < phases->n; p++) {
        const mo_phase *it = &phases->items[p];

        mo_out_printf(
            out, "%-12s%s: weight %" PRId64 ", %d ops, states %s\n",
            p == 0 ? "phases" : "",
            mo_utf8_escape_controls(name, sizeof name, it->name), it->weight,
            it->graph->n_ops,
            mo_format_bytes((double) mo_state_bytes(it->graph), text));
    }
}

static void put_types(const mo_llm_summary *s, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    for (int i = 0; i < s->n_types; i++)
        mo_out_printf(out, "%-12s%s: %s in %" PRId64 " tensors\n",
                      i == 0 ? "types" : "", s->types[i].type,
                      mo_format_bytes((double) s->types[i].bytes, text),
                      s->types[i].tensors);
}

static void put_decoder(const mo_llm_summary *s, mo_out *out)
{
    char text[MO_FORMAT_SIZE], title[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "model", s->architecture);
    if (s->title[0])
        mo_out_printf(out, "%-12s%s\n", "title",
                      mo_utf8_escape_controls(title, sizeof title, s->title));
    if (s->quantization[0])
        mo_out_printf(
            out, "%-12s%s\n", "quantized",
            mo_utf8_escape_controls(title, sizeof title, s->quantization));
    if (s->shards > 1)
        put_number(out, "shards", s->shards);
    if (s->unknown_tensors > 0) {
        mo_out_printf(out,
                      "%-12s%d, each one op by its size alone; %d tensors are "
                      "not understood\n",
                      "layers", s->layers, s->unknown_tensors);
        put_types(s, out);
        return;
    }
    put_layers(s, out);
    if (s->expert_layers > 0)
        mo_out_printf(
            out, "%-12s%" PRId64 " in %d layers, a token uses %" PRId64 "\n",
            "experts", s->experts, s->expert_layers, s->experts_used);
    put_types(s, out);
    mo_out_printf(out, "%-12s%s, %s", "cache", s->cache_type,
                  mo_format_bytes((double) s->token_bytes, text));
    mo_out_printf(out, " for a token, %s for %" PRId64 " tokens",
                  mo_format_bytes((double) s->cache_bytes, text), s->context);
    if (s->trained_context > 0)
        mo_out_printf(out, " (trained for %" PRId64 ")", s->trained_context);
    mo_out_char(out, '\n');
    if (s->state_bytes > 0)
        mo_out_printf(out, "%-12s%s\n", "states",
                      mo_format_bytes((double) s->state_bytes, text));
}

mo_status mo_report_graph_text(const mo_report_graph *description, mo_out *out,
                               mo_error *err)
{
    mo_report_top_ops heaviest;
    mo_status status = mo_report_top_ops_find(
        description->graph, description->summary, &heaviest, err);
    char file[SHOWN_SIZE];
    char text[MO_FORMAT_SIZE];
    int known =
        description->summary->ops - description->summary->ops_without_flops;

    if (status != MO_OK)
        return status;
    mo_out_printf(
        out, "%-12s%s\n", "graph",
        mo_utf8_escape_controls(file, sizeof file, description->file));
    mo_out_printf(out, "%-12s%s\n", "format", description->format);
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", description->digest);
    put_number(out, "ops", description->summary->ops);
    put_number(out, "constants", description->summary->constants);
    put_number(out, "edges", description->summary->edges);
    put_number(out, "tensors", description->summary->tensors);
    put_number(out, "sources", description->summary->sources);
    put_number(out, "sinks", description->summary->sinks);
    put_number(out, "components", description->summary->components);
    put_number(out, "depth", description->summary->depth);
    put_number(out, "width", description->summary->width);
    if (description->summary->clean_cuts == 0)
        put_number(out, "clean cuts", 0);
    else
        mo_out_printf(out, "%-12s%d, at most %d ops between\n", "clean cuts",
                      description->summary->clean_cuts,
                      description->summary->largest_segment);
    put_bytes(out, "weights", knows_weights(description->graph),
              (double) description->summary->weight_bytes);
    put_bytes(out, "memory", knows_memory(description->graph),
              (double) description->summary->memory_bytes);
    put_bytes(out, "tensor size", knows_tensor_sizes(description->graph),
              (double) description->summary->tensor_bytes);
    mo_out_printf(out, "%-12s%s", "flops",
                  mo_format_flops(
                      known ? description->summary->flops : MO_UNKNOWN, text));
    if (known && description->summary->flops >= 0 &&
        description->summary->ops_without_flops > 0)
        mo_out_printf(out, ", known for %d of %d ops", known,
                      description->summary->ops);
    mo_out_char(out, '\n');
    put_bytes(out, "traffic", knows_traffic(description->graph),
              description->summary->bytes);
    put_phases(description->graph->phases, out);
    if (description->decoder)
        put_decoder(description->decoder, out);
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

static void json_phases(mo_json_writer *w, const mo_phases *phases)
{
    mo_json_begin_array(w, "phases", MO_JSON_LINES);
    for (int p = 0; p < phases->n; p++) {
        const mo_phase *it = &phases->items[p];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "name", it->name);
        mo_json_put_int(w, "weight", it->weight);
        mo_json_put_int(w, "ops", it->graph->n_ops);
        mo_json_put_int(w, "state_bytes", mo_state_bytes(it->graph));
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void json_decoder(mo_json_writer *w, const mo_llm_summary *s)
{
    mo_json_begin_object(w, "model", MO_JSON_LINES);
    mo_json_put_text(w, "architecture", s->architecture);
    mo_json_put_text(w, "title", s->title[0] ? s->title : NULL);
    mo_json_put_text(w, "quantization",
                     s->quantization[0] ? s->quantization : NULL);
    mo_json_put_int(w, "shards", s->shards);
    mo_json_put_int(w, "unknown_tensors", s->unknown_tensors);
    mo_json_put_int(w, "layers", s->layers);
    mo_json_put_int(w, "draft_layers", s->draft_layers);
    mo_json_put_int(w, "attention_layers", s->attention_layers);
    mo_json_put_int(w, "window_layers", s->window_layers);
    mo_json_put_int(w, "window", s->window);
    mo_json_put_int(w, "recurrent_layers", s->recurrent_layers);
    mo_json_put_int(w, "expert_layers", s->expert_layers);
    mo_json_put_int(w, "experts", s->experts);
    mo_json_put_int(w, "experts_used", s->experts_used);
    mo_json_begin_object(w, "bytes_by_type", MO_JSON_INLINE);
    for (int i = 0; i < s->n_types; i++)
        mo_json_put_int(w, s->types[i].type, s->types[i].bytes);
    mo_json_end(w);
    mo_json_put_int(w, "trained_context", s->trained_context);
    mo_json_put_int(w, "context", s->context);
    mo_json_put_text(w, "cache_type", s->cache_type);
    mo_json_put_int(w, "cache_bytes_per_token", s->token_bytes);
    mo_json_put_int(w, "cache_bytes", s->cache_bytes);
    mo_json_put_int(w, "state_bytes", s->state_bytes);
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
    mo_json_put_int(&w, "ops", s->ops);
    mo_json_put_int(&w, "constants", s->constants);
    mo_json_put_int(&w, "edges", s->edges);
    mo_json_put_int(&w, "tensors", s->tensors);
    mo_json_put_int(&w, "sources", s->sources);
    mo_json_put_int(&w, "sinks", s->sinks);
    mo_json_put_int(&w, "components", s->components);
    mo_json_put_int(&w, "depth", s->depth);
    mo_json_put_int(&w, "width", s->width);
    mo_json_put_int(&w, "clean_cuts", s->clean_cuts);
    mo_json_put_int(&w, "largest_segment", s->largest_segment);
    json_bytes(&w, "weight_bytes", s->weight_bytes);
    json_bytes(&w, "memory_bytes", s->memory_bytes);
    json_bytes(&w, "tensor_bytes", s->tensor_bytes);
    json_amount(&w, "flops", s->flops);
    json_amount(&w, "bytes", s->bytes);
    mo_json_put_int(&w, "ops_without_flops", s->ops_without_flops);
    if (d->graph->phases)
        json_phases(&w, d->graph->phases);
    if (d->decoder)
        json_decoder(&w, d->decoder);
    mo_json_put_text(&w, "heaviest_by", heaviest.by ? heaviest.by->key : NULL);
    mo_json_begin_array(&w, "heaviest", MO_JSON_LINES);
    for (int i = 0; i < heaviest.n; i++) {
        const mo_op *op = &d->graph->ops[heaviest.ops[i]];

        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "op", op->name);
        mo_json_put_text(&w, "type", op->type);
        json_amount(&w, "flops", op->flops);
        json_amount(&w, "bytes", op->bytes);
        if (strcmp(heaviest.by->key, "flops") != 0)
            mo_json_put_double(&w, heaviest.by->key, heaviest.weights[i]);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    /* Ops without a type count under "". */
    mo_json_begin_object(&w, "operators", MO_JSON_LINES);
    for (int i = 0; i < s->n_types; i++)
        mo_json_put_int(&w, s->types[i].type, s->types[i].count);
    mo_json_end(&w);
    mo_json_end(&w);
    return MO_OK;
}

void mo_report_inputs_text(const char *file, const char *format,
                           const mo_model_inputs *inputs, mo_out *out)
{
    char text[SHOWN_SIZE], name[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, file));
    mo_out_printf(out, "%-12s%s\n", "format", format);
    for (int i = 0; i < inputs->n; i++) {
        const mo_model_input *one = &inputs->items[i];
        const mo_dims_text dims =
            mo_dims_format_named(&one->shape, one->dim_names);

        mo_out_printf(out, "%-12s%s  %s %s\n", "input",
                      mo_utf8_escape_controls(name, sizeof name, one->name),
                      one->dtype ? one->dtype : "?",
                      mo_utf8_escape_controls(text, sizeof text, dims.text));
    }
    mo_out_text(out, "ops         depend on the sizes of the inputs; add");
    for (int i = 0; i < inputs->n; i++) {
        mo_shape sizes = inputs->items[i].shape;

        if (mo_shape_is_static(&sizes))
            continue;
        for (int d = 0; d < sizes.rank; d++)
            sizes.dims[d] = sizes.dims[d] < 0 ? 1 : sizes.dims[d];
        mo_out_printf(
            out, " --shape %s=%s",
            mo_utf8_escape_controls(name, sizeof name, inputs->items[i].name),
            sizes.rank < 0 ? "1,..." : mo_dims_format(&sizes).text);
    }
    mo_out_char(out, '\n');
}

void mo_report_inputs_json(const char *file, const char *format,
                           const mo_model_inputs *inputs, mo_out *out)
{
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", file);
    mo_json_put_text(&w, "format", format);
    mo_json_begin_array(&w, "inputs", MO_JSON_LINES);
    for (int i = 0; i < inputs->n; i++) {
        const mo_model_input *one = &inputs->items[i];

        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "name", one->name);
        mo_json_put_text(&w, "dtype", one->dtype);
        mo_json_put_text(
            &w, "shape",
            one->shape.rank == 0
                ? ""
                : mo_dims_format_named(&one->shape, one->dim_names).text);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    mo_json_end(&w);
}
