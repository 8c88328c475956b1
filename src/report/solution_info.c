/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "models/formulation.h"
#include "report/format_units.h"

enum { SHOWN_SIZE = 300, DIGEST_SIZE = 17 };

static const char *hex(uint64_t digest, char text[DIGEST_SIZE])
{
    snprintf(text, DIGEST_SIZE, "%016" PRIx64, digest);
    return text;
}

static double unit_us(const mo_report_solution *r)
{
    return r->origin->unit_ns > 0 ? (double) r->origin->unit_ns / 1000 : NAN;
}

/* The objective of the file, else column w; NAN: none, or infinite. */
static double claimed(const mo_solution *s)
{
    if (s->has_objective)
        return s->objective;
    for (int i = 0; i < s->n; i++)
        if (s->values[i].name && strcmp(s->values[i].name, "w") == 0)
            return isfinite(s->values[i].value) ? s->values[i].value : NAN;
    return NAN;
}

/* The status and bound of the format, else of comments. */
static mo_solution_status claimed_status(const mo_solution *s)
{
    return s->claim != MO_SOLUTION_STATUS_UNKNOWN ? s->claim : s->note.status;
}

static double claimed_bound(const mo_solution *s)
{
    return s->has_bound ? s->bound : s->note.has_bound ? s->note.bound : NAN;
}

static const char *shown(const char *text, char room[SHOWN_SIZE])
{
    return mo_utf8_escape_controls(room, SHOWN_SIZE, text);
}

static void put_line(mo_out *out, const char *what, const char *text)
{
    char room[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", what, shown(text, room));
}

static void put_list(mo_out *out, const char *key,
                     const mo_provenance_list *list)
{
    for (int i = 0; i < list->n; i++)
        put_line(out, key, list->items[i]);
    if (list->is_cut)
        put_line(out, key, "not recorded, too long");
}

static void put_members(const mo_report_solution *r, mo_out *out)
{
    for (int i = 0; i < r->n_members; i++) {
        const mo_report_member *m = &r->members[i];
        char room[SHOWN_SIZE], size[MO_FORMAT_SIZE], digest[DIGEST_SIZE];

        mo_out_printf(out, "%-12s%s, %s", m->has_digest ? "weights" : "member",
                      shown(m->name, room),
                      mo_format_bytes((double) m->size, size));
        if (m->has_digest)
            mo_out_printf(out, " (%s)%s", hex(m->digest, digest),
                          m->packed ? "" : ", not packed");
        mo_out_char(out, '\n');
    }
}

static void put_time(const mo_report_solution *r, const char *what,
                     double value, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    if (isnan(value))
        return;
    mo_out_printf(out, "%-12s", what);
    if (r->origin->unit_ns > 0 && fabs(value * unit_us(r)) < 9e15) {
        mo_out_text(out,
                    mo_format_time(llround(value * unit_us(r) * 1000), text));
    } else {
        mo_out_double(out, value);
        mo_out_text(out, " in units of the model");
    }
    mo_out_text(out, ", as claimed\n");
}

static bool has_period(const mo_report_solution *r)
{
    return r->origin->has_options &&
           mo_formulation_has_period(r->origin->formulation);
}

/* Whether the identity columns fit their digest. */
static const char *integrity(const mo_provenance *o)
{
    return o->edited ? "edited" : o->has_digest ? "intact" : "no digest";
}

static void put_input(const mo_report_input *input, mo_out *out)
{
    char room[SHOWN_SIZE], digest[DIGEST_SIZE];

    mo_out_printf(out, "%-12s", input->what);
    if (input->name[0])
        mo_out_printf(out, "%s ", shown(input->name, room));
    if (input->has_digest)
        mo_out_printf(out, "(%s)", hex(input->digest, digest));
    if (input->path)
        mo_out_printf(out, "%shere: %s", input->has_digest ? ", " : "",
                      shown(input->path, room));
    else
        mo_out_printf(out, "%smissing", input->has_digest ? ", " : "");
    if (!input->path && input->note[0])
        mo_out_printf(out, ", but %s", shown(input->note, room));
    mo_out_char(out, '\n');
}

static bool any_missing(const mo_report_solution *r)
{
    for (int i = 0; i < r->n_inputs; i++)
        if (!r->inputs[i].path)
            return true;
    return false;
}

static void put_devices(const mo_report_solution *r, mo_out *out)
{
    for (int k = 0; k < r->n_devices; k++) {
        char room[SHOWN_SIZE], number[24];

        snprintf(number, sizeof number, "device %d", k);
        mo_out_printf(out, "%-12s%8d ops\n",
                      r->device_ids ? shown(r->device_ids[k], room) : number,
                      r->ops[k]);
    }
}

/* Files of Moirai have the layout of Gurobi with comments of their own. */
static const char *layout_of(const mo_solution *s)
{
    return s->note.by[0] ? "moirai" : s->layout;
}

void mo_report_solution_text(const mo_report_solution *r, mo_out *out)
{
    char room[SHOWN_SIZE];
    const mo_solution *s = r->solution;
    mo_solution_status status;
    const mo_provenance *o = r->origin;

    put_line(out, r->n_members > 0 ? "bundle" : "solution", r->file);
    put_members(r, out);
    if (!r->solution)
        return;
    status = claimed_status(s);
    put_line(out, "layout", layout_of(s));
    if (status != MO_SOLUTION_STATUS_UNKNOWN)
        mo_out_printf(out, "%-12s%s, as claimed\n", "status",
                      status == MO_SOLUTION_STATUS_UNCONFIRMED
                          ? "optimal, not confirmed"
                      : status == MO_SOLUTION_STATUS_OPTIMAL_AS_GIVEN
                          ? "optimal for its model as given"
                          : mo_solution_status_names[status]);
    put_time(r, has_period(r) ? "period" : "makespan", claimed(s), out);
    put_time(r, "bound", claimed_bound(s), out);
    if (o->has_options) {
        put_line(out, "identity", integrity(o));
        put_line(out, "formulation", o->formulation);
        put_line(out, "congestion", mo_congestion_names[o->regime.congestion]);
        put_line(out, "tensors", mo_tensors_names[o->regime.tensors]);
        put_line(out, "memory", mo_memory_names[o->regime.memory]);
        put_line(out, "fusion", o->fusion);
    }
    if (o->in_flight > 0)
        mo_out_printf(out, "%-12sat most %d\n", "in flight",
                      (int) o->in_flight);
    if (mo_answer_n_copies(s) > 1)
        mo_out_printf(out, "%-12s%d, ops are those of the first\n", "copies",
                      mo_answer_n_copies(s));
    if (o->cost[0])
        put_line(out, "cost", o->cost);
    if (o->formats[0])
        put_line(out, "formats", o->formats);
    put_list(out, "shape", &o->shapes);
    put_list(out, "value", &o->values);
    if (!r->origin->has_graph && r->solution->n > 0)
        put_line(out, "graph", "not recorded; give it with --graph");
    for (int i = 0; i < r->n_inputs; i++)
        put_input(&r->inputs[i], out);
    if (any_missing(r)) {
        mo_out_printf(out, "%-12s", "searched");
        for (int i = 0; i < r->n_searched; i++)
            mo_out_printf(out, "%s%s", i > 0 ? ", " : "",
                          shown(r->searched[i], room));
        mo_out_char(out, '\n');
    }
    if (r->n_devices > 0)
        mo_out_char(out, '\n');
    put_devices(r, out);
}

static void json_time(const mo_report_solution *r, mo_json_writer *w,
                      const char *key, double value)
{
    double ns = value * unit_us(r) * 1000;

    if (fabs(ns) < 9e15)
        mo_json_put_us(w, key, llround(ns));
}

static void json_list(mo_json_writer *w, const char *key,
                      const mo_provenance_list *list)
{
    mo_json_begin_array(w, key, MO_JSON_INLINE);
    for (int i = 0; i < list->n; i++)
        mo_json_put_text(w, NULL, list->items[i]);
    mo_json_end(w);
}

static void json_options(const mo_report_solution *r, mo_json_writer *w)
{
    const mo_provenance *o = r->origin;

    if (o->has_options) {
        mo_json_put_text(w, "identity", integrity(o));
        mo_json_put_text(w, "formulation", o->formulation);
        mo_json_put_text(w, "congestion",
                         mo_congestion_names[o->regime.congestion]);
        mo_json_put_text(w, "tensors", mo_tensors_names[o->regime.tensors]);
        mo_json_put_text(w, "memory", mo_memory_names[o->regime.memory]);
        mo_json_put_text(w, "fusion", o->fusion);
    }
    if (o->in_flight > 0)
        mo_json_put_int(w, "in_flight", o->in_flight);
    if (mo_answer_n_copies(r->solution) > 1)
        mo_json_put_int(w, "copies", mo_answer_n_copies(r->solution));
    if (o->cost[0])
        mo_json_put_text(w, "cost", o->cost);
    if (o->formats[0])
        mo_json_put_text(w, "formats", o->formats);
    json_list(w, "shapes", &o->shapes);
    json_list(w, "values", &o->values);
}

static void json_inputs(const mo_report_solution *r, mo_json_writer *w)
{
    char digest[DIGEST_SIZE];

    mo_json_begin_array(w, "inputs", MO_JSON_LINES);
    for (int i = 0; i < r->n_inputs; i++) {
        const mo_report_input *input = &r->inputs[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "kind", input->what);
        if (input->name[0])
            mo_json_put_text(w, "name", input->name);
        if (input->has_digest)
            mo_json_put_text(w, "digest", hex(input->digest, digest));
        mo_json_put_text(w, "path", input->path);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_begin_array(w, "searched", MO_JSON_INLINE);
    for (int i = 0; i < r->n_searched; i++)
        mo_json_put_text(w, NULL, r->searched[i]);
    mo_json_end(w);
}

void mo_report_solution_json(const mo_report_solution *r, mo_out *out)
{
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, r->n_members > 0 ? "bundle" : "solution", r->file);
    if (r->n_members > 0) {
        char digest[DIGEST_SIZE];

        mo_json_begin_array(&w, "members", MO_JSON_LINES);
        for (int i = 0; i < r->n_members; i++) {
            const mo_report_member *m = &r->members[i];

            mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
            mo_json_put_text(&w, "name", m->name);
            mo_json_put_int(&w, "bytes", m->size);
            if (m->has_digest)
                mo_json_put_text(&w, "digest", hex(m->digest, digest));
            mo_json_put_bool(&w, "packed", m->packed);
            mo_json_end(&w);
        }
        mo_json_end(&w);
    }
    if (r->solution) {
        const mo_solution *s = r->solution;

        mo_json_put_text(&w, "layout", layout_of(s));
        if (claimed_status(s) != MO_SOLUTION_STATUS_UNKNOWN)
            mo_json_put_text(&w, "claimed_status",
                             mo_solution_status_names[claimed_status(s)]);
        json_time(r, &w, "claimed_us", claimed(s));
        json_time(r, &w, "claimed_bound_us", claimed_bound(s));
        json_options(r, &w);
        json_inputs(r, &w);
        mo_json_begin_array(&w, "devices", MO_JSON_LINES);
        for (int k = 0; k < r->n_devices; k++) {
            mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
            mo_json_put_text(&w, "id", r->device_ids ? r->device_ids[k] : NULL);
            mo_json_put_int(&w, "ops", r->ops[k]);
            mo_json_end(&w);
        }
        mo_json_end(&w);
    }
    mo_json_end(&w);
}
