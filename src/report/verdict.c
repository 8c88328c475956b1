/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200, STATUS_ROOM = 100 };

static void put_time(const char *what, int64_t ns, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%s", what, mo_format_time(ns, text));
}

static double gap_to(const mo_report_verdict *r, int64_t bound_ns)
{
    double makespan = (double) mo_answer_evaluation_objective_ns(r->evaluation);
    double bound = (double) bound_ns;

    return makespan > bound ? (makespan - bound) / makespan : 0;
}

double mo_report_verdict_gap(const mo_report_verdict *r)
{
    return gap_to(r, r->bound_ns);
}

const char *mo_report_status_text(const char *status, const char *claimed_by,
                                  char *text, size_t size)
{
    static const char prefix[] = "claimed_", suffix[] = "_as_given";
    size_t length = strlen(status);

    if (length >= sizeof suffix &&
        strcmp(status + length - sizeof suffix + 1, suffix) == 0) {
        snprintf(text, size, "%.*s for the model as given",
                 (int) (length - sizeof suffix + 1), status);
        return text;
    }
    if (strncmp(status, prefix, sizeof prefix - 1) != 0)
        return status;
    snprintf(text, size, "%s (claimed by %s, not confirmed)",
             status + sizeof prefix - 1, claimed_by);
    return text;
}

static void put_verdict(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->evaluation;
    int n = mo_answer_evaluation_count(j);
    char text[STATUS_ROOM];

    mo_out_text(out, mo_answer_evaluation_valid(j) ? "valid" : "invalid");
    if (r->status && mo_answer_evaluation_valid(j))
        mo_out_printf(
            out, ", %s",
            mo_report_status_text(r->status, r->claimed_by, text, sizeof text));
    mo_out_text(out, "\n");
    for (int i = 0; i < n; i++)
        mo_out_printf(out, "  %s\n", mo_answer_evaluation_violation(j, i));
    if (j->verdict && j->verdict->more)
        mo_out_text(out, "  and more\n");
}

/* Whether the claimed bound exceeds the makespan by more than the tolerances
 * of a solver. */
static bool is_refuted(const mo_report_verdict *r)
{
    double makespan_ns =
        (double) mo_answer_evaluation_objective_ns(r->evaluation);

    return mo_answer_evaluation_valid(r->evaluation) &&
           (double) r->claim->bound_ns >
               makespan_ns *
                       (1 + MO_ANSWER_CLAIM_TOLERANCE(MO_ANSWER_TOLERANCE)) +
                   1;
}

/* Whether the period or makespan is what the file claims, or less. */
static bool is_reached(const mo_answer_evaluation *j)
{
    double ns = (double) mo_answer_evaluation_objective_ns(j);

    return ns <= (double) j->claim_ns +
                     MO_ANSWER_CLAIM_TOLERANCE(MO_ANSWER_TOLERANCE) * ns + 1;
}

static void put_claim(const mo_report_verdict *r, mo_out *out)
{
    const mo_report_claim *c = r->claim;
    char text[MO_FORMAT_SIZE], by[NAME_ROOM];
    bool unconfirmed = c && c->status == MO_SOLUTION_STATUS_UNCONFIRMED;

    if (!c || (c->status == MO_SOLUTION_STATUS_UNKNOWN && !c->has_bound))
        return;
    mo_out_printf(out, "%-12s%s", "claimed",
                  c->status == MO_SOLUTION_STATUS_UNKNOWN ? "bound"
                  : c->status >= MO_SOLUTION_STATUS_UNCONFIRMED
                      ? "optimal"
                      : mo_solution_status_names[c->status]);
    if (c->by[0])
        mo_out_printf(out, " by %s",
                      mo_utf8_escape_controls(by, sizeof by, c->by));
    if (unconfirmed)
        mo_out_text(out, ", not confirmed");
    if (c->status == MO_SOLUTION_STATUS_OPTIMAL_AS_GIVEN)
        mo_out_text(out, ", for its model as given");
    if (c->has_bound)
        mo_out_printf(out, ", bound %s%s", mo_format_time(c->bound_ns, text),
                      is_refuted(r) ? ", which this schedule refutes" : "");
    mo_out_text(out, "\n");
}

static bool is_by_proof(const mo_report_verdict *r)
{
    return r->proof && r->proof->bound_ns > 0 &&
           strcmp(r->bound_by, MO_REPORT_PROOF_NAME) == 0;
}

/* A claimed bound is followed by the best one that is computed here. */
static void put_bounds(const mo_report_verdict *r, mo_out *out)
{
    char gap[MO_FORMAT_SIZE];

    put_time("bound", r->bound_ns, out);
    if (r->bound_claimed)
        mo_out_printf(out, " (claimed by %s)", r->bound_by);
    else if (is_by_proof(r))
        mo_out_printf(out, " (%s verified, %zu %s)", r->bound_by,
                      r->proof->n_entries,
                      r->proof->n_entries == 1 ? "entry" : "entries");
    else
        mo_out_printf(out, " (%s, recomputed)", r->bound_by);
    mo_out_printf(out, ", gap %s %%\n",
                  mo_format_percent(mo_report_verdict_gap(r), gap));
    if (r->proof && r->proof->why[0])
        mo_out_printf(out, "%-12s%s\n", "certificate", r->proof->why);
    if (!r->bound_claimed || !r->own_bound_by)
        return;
    put_time("recomputed", r->own_bound_ns, out);
    mo_out_printf(out, " (%s), gap %s %%\n", r->own_bound_by,
                  mo_format_percent(gap_to(r, r->own_bound_ns), gap));
}

/* A copy of the network, c from 0 on; its period is that of itself. */
static const mo_answer_evaluation *copy_at(const mo_answer_evaluation *j, int c,
                                           int64_t *period_ns)
{
    const mo_answer_evaluation *copy = c == 0 ? j : &j->further[c - 1];

    *period_ns = c > 0               ? copy->period_ns
                 : j->n_further == 0 ? mo_answer_evaluation_objective_ns(j)
                                     : j->own_period_ns;
    return copy;
}

/* The copy that has ops on a device; the first one where none has. */
static const mo_answer_evaluation *copy_on(const mo_answer_evaluation *j, int k,
                                           int64_t *period_ns)
{
    for (int c = j->n_further; c >= 0; c--) {
        const mo_answer_evaluation *copy = copy_at(j, c, period_ns);

        for (int i = 0; i < copy->schedule->n; i++)
            if (copy->schedule->device[i] == k)
                return copy;
    }
    return copy_at(j, 0, period_ns);
}

/* Whether all copies could be evaluated. */
static bool has_copies(const mo_answer_evaluation *j)
{
    return j->n_further > 0 && j->own_period_ns > 0;
}

static void put_copies(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->evaluation;
    char text[MO_FORMAT_SIZE], id[NAME_ROOM];
    double rate = 0;
    int64_t ns;

    for (int c = 0; c <= j->n_further; c++) {
        copy_at(j, c, &ns);
        rate += 1 / (double) ns;
    }
    for (int c = 0; c <= j->n_further; c++) {
        const mo_answer_evaluation *copy = copy_at(j, c, &ns);

        mo_out_printf(out, "copy %-7d%s, %.1f %% of the requests; latency ",
                      c + 1, mo_format_time(ns, text),
                      100 / (double) ns / rate);
        mo_out_printf(out, "%s, %d in flight; bottleneck: %s; on",
                      mo_format_time(copy->latency_ns, text), copy->in_flight,
                      copy->bottleneck);
        for (int k = 0; k < r->x->n_devices; k++)
            if (copy_on(j, k, &ns) == copy && copy->verdict->busy_ns[k] > 0)
                mo_out_printf(out, " %s",
                              mo_utf8_escape_controls(id, sizeof id,
                                                      r->x->device_ids[k]));
        mo_out_text(out, "\n");
    }
}

/* The steady state of many requests. */
static void put_pipeline(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->evaluation;
    char text[MO_FORMAT_SIZE];

    put_time("steady", j->steady_ns, out);
    if (has_copies(j)) {
        mo_out_printf(out, " simulated, %d copies\n", 1 + j->n_further);
        put_copies(r, out);
        return;
    }
    mo_out_printf(out, " simulated, %d in flight", j->in_flight);
    if (j->least_in_flight < j->in_flight)
        mo_out_printf(out, " (at least %d)", j->least_in_flight);
    else
        mo_out_text(out, " (the least)");
    mo_out_printf(out, "; bottleneck: %s\n", j->bottleneck);
    put_time("latency", j->latency_ns, out);
    mo_out_printf(out, " of a request in the pipeline, %s alone\n",
                  mo_format_time(j->schedule->makespan_ns, text));
}

/* Each phase of a workload, run by itself. */
static void put_phases(const mo_report_verdict *r, mo_out *out)
{
    char name[NAME_ROOM], once[MO_FORMAT_SIZE], all[MO_FORMAT_SIZE];

    for (int p = 0; p < r->n_phases; p++) {
        const mo_report_phase *phase = &r->phases[p];

        mo_out_printf(out, "%-12s%s = %" PRId64 " x %s, %s\n", "phase",
                      mo_format_time(phase->weight * phase->makespan_ns, all),
                      phase->weight, mo_format_time(phase->makespan_ns, once),
                      mo_utf8_escape_controls(name, sizeof name, phase->name));
    }
}

/* A schedule that violates a constraint has no gap: bounds are of valid
 * ones. */
static void put_times(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->evaluation;
    char id[NAME_ROOM], text[MO_FORMAT_SIZE];

    put_time(j->period_ns >= 0 ? "period" : "makespan",
             mo_answer_evaluation_objective_ns(j), out);
    if (j->claim_ns != MO_ANSWER_NO_CLAIM)
        mo_out_printf(out, ", claimed %s%s", mo_format_time(j->claim_ns, text),
                      is_reached(j) ? "" : ", which is not reached");
    mo_out_text(out, "\n");
    put_phases(r, out);
    if (j->period_ns >= 0)
        put_pipeline(r, out);
    else if (j->rebuilt)
        mo_out_printf(out, "%-12s%s\n", "start times",
                      "not in the file; rebuilt from the placement");
    put_claim(r, out);
    if (mo_answer_evaluation_valid(j))
        put_bounds(r, out);
    if (r->refuted && r->refuted[0])
        mo_out_printf(out, "%-12s%s\n", "refuted", r->refuted);
    if (j->single == MO_FREE)
        return;
    put_time("best single", j->single_ns, out);
    mo_out_printf(
        out, " on %s\n",
        mo_utf8_escape_controls(id, sizeof id, r->x->device_ids[j->single]));
}

static void put_device(const mo_report_verdict *r, int k, mo_out *out)
{
    int64_t whole;
    const mo_answer_evaluation *j = copy_on(r->evaluation, k, &whole);
    int64_t capacity = r->x->capacity_bytes[k],
            peak = j->verdict->peak_bytes[k];
    char id[NAME_ROOM], used[MO_FORMAT_SIZE], most[MO_FORMAT_SIZE];
    int n = 0;

    for (int i = 0; i < j->schedule->n; i++)
        n += j->schedule->device[i] == k;
    mo_out_printf(
        out, "%-12s%8d ops  %6.1f %% busy  %s",
        mo_utf8_escape_controls(id, sizeof id, r->x->device_ids[k]), n,
        whole > 0 ? 100 * (double) j->verdict->busy_ns[k] / (double) whole : 0,
        mo_format_bytes((double) peak, used));
    if (capacity < INT64_MAX)
        mo_out_printf(out, " of %s", mo_format_bytes((double) capacity, most));
    mo_out_text(out, "\n");
}

void mo_report_verdict_text(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->evaluation;
    char text[MO_FORMAT_SIZE], formats[MO_NUMERIC_TEXT];

    put_verdict(r, out);
    if (j->schedule)
        put_times(r, out);
    if (r->model && strcmp(r->model, "as emitted") != 0)
        mo_out_printf(out, "%-12s%s\n", "model", r->model);
    mo_report_rules_text(r->regime, r->rules, out);
    mo_numeric_write(&r->x->formats, formats);
    if (formats[0])
        mo_out_printf(out, "%-12s%s\n", "formats", formats);
    if (!j->schedule)
        return;
    mo_out_printf(out, "%-12s%d, %s in all\n\n", "transfers",
                  j->verdict->n_transfers,
                  mo_format_time(j->verdict->sent_ns, text));
    for (int k = 0; k < r->x->n_devices && (j->n_further == 0 || has_copies(j));
         k++)
        put_device(r, k, out);
}

static void json_known(mo_json_writer *w, const char *key, const char *value)
{
    if (value)
        mo_json_put_text(w, key, value);
}

static void json_phases(const mo_report_verdict *r, mo_json_writer *w)
{
    mo_json_begin_array(w, "phases", MO_JSON_LINES);
    for (int p = 0; p < r->n_phases; p++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "name", r->phases[p].name);
        mo_json_put_int(w, "weight", r->phases[p].weight);
        mo_json_put_us(w, "makespan_us", r->phases[p].makespan_ns);
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void json_times(const mo_report_verdict *r, mo_json_writer *w)
{
    const mo_answer_evaluation *j = r->evaluation;

    if (!j->schedule)
        return;
    if (j->period_ns >= 0) {
        mo_json_put_us(w, "period_us", j->period_ns);
        mo_json_put_us(w, "steady_period_us", j->steady_ns);
        mo_json_put_us(w, "latency_us", j->latency_ns);
        mo_json_put_int(w, "in_flight", j->in_flight);
        mo_json_put_int(w, "least_in_flight", j->least_in_flight);
        mo_json_put_bool(w, "in_flight_is_least",
                         j->least_in_flight >= j->in_flight);
        mo_json_put_text(w, "bottleneck", j->bottleneck);
    }
    mo_json_put_us(w, "makespan_us", j->schedule->makespan_ns);
    if (r->n_phases > 0)
        json_phases(r, w);
    mo_json_put_bool(w, "times_in_file", !j->rebuilt);
    if (mo_answer_evaluation_valid(j)) {
        mo_json_put_us(w, "bound_us", r->bound_ns);
        mo_json_put_text(w, "bound_by", r->bound_by);
        mo_json_put_bool(w, "bound_recomputed", !r->bound_claimed);
        if (is_by_proof(r))
            mo_json_put_int(w, "certificate_entries",
                            (int64_t) r->proof->n_entries);
        if (r->proof && r->proof->why[0])
            mo_json_put_text(w, "certificate_rejected", r->proof->why);
        mo_json_put_double(w, "gap", mo_report_verdict_gap(r));
        if (r->bound_claimed && r->own_bound_by) {
            mo_json_put_us(w, "recomputed_bound_us", r->own_bound_ns);
            mo_json_put_text(w, "recomputed_bound_by", r->own_bound_by);
        }
    }
    if (j->single != MO_FREE)
        mo_json_put_us(w, "best_single_us", j->single_ns);
}

static void json_placement(const mo_instance *x, const mo_schedule *s,
                           mo_json_writer *w)
{
    mo_json_begin_object(w, "placement", MO_JSON_BLOCK);
    for (int i = 0; i < x->n; i++)
        mo_json_put_text(w, x->op_names[i], x->device_ids[s->device[i]]);
    mo_json_end(w);
}

static void json_by_device(const mo_instance *x, const char *key,
                           const int64_t *amounts, double scale,
                           mo_json_writer *w)
{
    mo_json_begin_object(w, key, MO_JSON_INLINE);
    for (int k = 0; k < x->n_devices; k++)
        mo_json_put_double(w, x->device_ids[k], (double) amounts[k] / scale);
    mo_json_end(w);
}

/* All copies, the first one too. */
static void json_copies(const mo_report_verdict *r, mo_json_writer *w)
{
    const mo_answer_evaluation *j = r->evaluation;

    mo_json_begin_array(w, "copies", MO_JSON_BLOCK);
    for (int c = 0; c <= j->n_further; c++) {
        int64_t ns;
        const mo_answer_evaluation *copy = copy_at(j, c, &ns);

        mo_json_begin_object(w, NULL, MO_JSON_LINES);
        mo_json_put_us(w, "period_us", ns);
        mo_json_put_us(w, "steady_period_us", copy->steady_ns);
        mo_json_put_us(w, "latency_us", copy->latency_ns);
        mo_json_put_int(w, "in_flight", copy->in_flight);
        mo_json_put_text(w, "bottleneck", copy->bottleneck);
        json_placement(r->x, copy->schedule, w);
        json_by_device(r->x, "busy_us", copy->verdict->busy_ns, 1000, w);
        json_by_device(r->x, "peak_bytes", copy->verdict->peak_bytes, 1, w);
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void json_devices(const mo_report_verdict *r, mo_json_writer *w)
{
    const mo_verdict *v = r->evaluation->verdict;

    if (!v)
        return;
    json_by_device(r->x, "busy_us", v->busy_ns, 1000, w);
    json_by_device(r->x, "peak_bytes", v->peak_bytes, 1, w);
    mo_json_put_int(w, "transfers", v->n_transfers);
    mo_json_put_us(w, "sent_us", v->sent_ns);
}

void mo_report_verdict_json(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->evaluation;
    mo_json_writer w = { .out = out };
    char formats[MO_NUMERIC_TEXT];
    const mo_report_claim *c = r->claim;
    int64_t makespan_ns = r->evaluation->claim_ns;

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_numeric_write(&r->x->formats, formats);
    json_known(&w, "graph", r->graph);
    json_known(&w, "cluster", r->cluster);
    mo_json_put_int(&w, "ops", r->ops);
    mo_json_put_int(&w, "coarse_ops", r->x->n);
    mo_json_put_int(&w, "edges", r->edges);
    mo_json_put_int(&w, "devices", r->x->n_devices);
    json_known(&w, "formulation", r->formulation);
    json_known(&w, "model", r->model);
    mo_report_rules_json(r->regime, r->rules, &w);
    json_known(&w, "formats", formats[0] ? formats : NULL);
    json_known(&w, "solver", r->solver);
    mo_json_put_text(&w, "status",
                     r->status                       ? r->status
                     : mo_answer_evaluation_valid(j) ? "valid"
                                                     : "invalid");
    json_known(&w, "claimed_by", r->claimed_by);
    json_known(&w, "confirmed_by", r->confirmed_by);
    if (r->refuted && r->refuted[0])
        mo_json_put_text(&w, "refuted", r->refuted);
    json_times(r, &w);
    mo_json_begin_object(&w, "claimed", MO_JSON_INLINE);
    if (c && c->status != MO_SOLUTION_STATUS_UNKNOWN)
        mo_json_put_text(&w, "status", mo_solution_status_names[c->status]);
    if (c && c->by[0])
        mo_json_put_text(&w, "by", c->by);
    if (makespan_ns != MO_ANSWER_NO_CLAIM)
        mo_json_put_us(&w, "makespan_us", makespan_ns);
    if (makespan_ns != MO_ANSWER_NO_CLAIM && r->evaluation->schedule)
        mo_json_put_bool(&w, "is_reached", is_reached(r->evaluation));
    if (c && c->has_bound)
        mo_json_put_us(&w, "bound_us", c->bound_ns);
    mo_json_end(&w);
    if (r->seconds >= 0)
        mo_json_put_double(&w, "seconds", r->seconds);
    if (r->cross_check_s > 0)
        mo_json_put_double(&w, "cross_check_seconds", r->cross_check_s);
    if (j->schedule)
        json_placement(r->x, j->schedule, &w);
    if (has_copies(j))
        json_copies(r, &w);
    mo_runtime_put_settings(r->settings, &w);
    mo_json_begin_array(&w, "violations", MO_JSON_LINES);
    for (int i = 0; i < mo_answer_evaluation_count(j); i++)
        mo_json_put_text(&w, NULL, mo_answer_evaluation_violation(j, i));
    mo_json_end(&w);
    json_devices(r, &w);
    mo_json_end(&w);
}

static void json_transfer(const mo_instance *x, const mo_schedule *s,
                          const mo_transfer *t, mo_json_writer *w)
{
    int from = s->regime.tensors == MO_TENSORS_ONCE ? x->tensor_from[t->item]
                                                    : x->flows[t->item].from;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int first;
    int end;

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "from", x->op_names[from]);
    /* Writes the consumers of a transfer. */
    first = once ? x->tensor_start[t->item] : t->item;
    end = once ? x->tensor_start[t->item + 1] : t->item + 1;
    mo_json_begin_array(w, "to", MO_JSON_INLINE);
    for (int q = first; q < end; q++)
        if (s->device[x->flows[q].to] == t->to)
            mo_json_put_text(w, NULL, x->op_names[x->flows[q].to]);
    mo_json_end(w);
    mo_json_put_text(w, "device", x->device_ids[t->to]);
    mo_json_put_us(w, "start_us", t->start_ns);
    mo_json_put_us(w, "end_us", t->end_ns);
    mo_json_end(w);
}

void mo_report_schedule_json(const mo_instance *x, const mo_schedule *s,
                             mo_out *out)
{
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    json_placement(x, s, &w);
    mo_json_begin_object(&w, "schedule", MO_JSON_LINES);
    mo_json_begin_object(&w, "ops", MO_JSON_BLOCK);
    for (int i = 0; i < x->n; i++)
        mo_json_put_us(&w, x->op_names[i], s->start_ns[i]);
    mo_json_end(&w);
    mo_json_begin_array(&w, "transfers", MO_JSON_BLOCK);
    for (int t = 0; t < s->n_transfers; t++)
        json_transfer(x, s, &s->transfers[t], &w);
    mo_json_end(&w);
    mo_json_end(&w);
    mo_json_end(&w);
}
