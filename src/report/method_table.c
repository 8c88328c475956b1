/* SPDX-License-Identifier: Apache-2.0 */
#include "report/method_table.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "report/format_units.h"

const mo_report_method_row *mo_report_methods_best(const mo_report_methods *p)
{
    return p->n > 0 && !p->rows[0].why && p->rows[0].fits ? &p->rows[0] : NULL;
}

bool mo_report_methods_has_gap(const mo_report_methods *p,
                               const mo_report_method_row *row)
{
    return !p->is_infeasible && row->makespan_ns >= p->bound_ns;
}

static double gap_to(int64_t ns, int64_t bound_ns)
{
    return ns > 0 ? (double) (ns - bound_ns) / (double) ns : 0;
}

double mo_report_methods_gap(const mo_report_methods *p,
                             const mo_report_method_row *row)
{
    return gap_to(row->makespan_ns, p->bound_ns);
}

double mo_report_methods_loss(const mo_report_methods *p, int device)
{
    const mo_report_method_row *best = mo_report_methods_best(p);

    assert(best);
    if (best->makespan_ns == 0)
        return 0;
    return (double) p->losses[device].makespan_ns / (double) best->makespan_ns -
           1;
}

enum { NAME_ROOM = 25, CELL_ROOM = 48 };

typedef struct table {
    const mo_report_methods *p;
    const mo_time_unit *unit; /* one for all times */
    int name_width, memory_width;
    mo_out *out;
} table;

static const char *device_name(const mo_report_methods *p, int device,
                               char *name)
{
    return mo_utf8_escape_controls(name, NAME_ROOM, p->x->device_ids[device]);
}

static void memory_cell(const mo_report_methods *p,
                        const mo_report_method_row *row, char *cell)
{
    char name[NAME_ROOM], needs[MO_FORMAT_SIZE];
    double capacity, peak = (double) row->peak_bytes;

    if (row->why || row->fullest == MO_FREE) {
        snprintf(cell, CELL_ROOM, "-");
        return;
    }
    capacity = (double) p->x->capacity_bytes[row->fullest];
    device_name(p, row->fullest, name);
    if (capacity <= 0 && peak > 0)
        snprintf(cell, CELL_ROOM, "%.10s, none in %s",
                 mo_format_bytes(peak, needs), name);
    else
        snprintf(cell, CELL_ROOM, "%.1f %% of %s",
                 capacity > 0 ? 100 * peak / capacity : 0, name);
}

static int name_width(const mo_report_methods *p)
{
    int width = (int) strlen("method   ");

    for (int i = 0; i < p->n; i++)
        if ((int) strlen(p->rows[i].method) > width)
            width = (int) strlen(p->rows[i].method);
    return width;
}

static int memory_width(const mo_report_methods *p)
{
    int width = (int) strlen("memory peak");

    for (int i = 0; i < p->n; i++) {
        char cell[CELL_ROOM];

        memory_cell(p, &p->rows[i], cell);
        if (mo_utf8_columns(cell) > width)
            width = mo_utf8_columns(cell);
    }
    return width;
}

/* Pads by columns: a character may take several bytes. */
static void put_padded(mo_out *out, const char *text, int width)
{
    int room = width - mo_utf8_columns(text);

    mo_out_printf(out, "%s%*s", text, room > 0 ? room : 0, "");
}

static bool has_period(const mo_report_methods *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->rows[i].steady_ns > 0)
            return true;
    return false;
}

static void put_time(const table *t, int64_t ns)
{
    mo_out_printf(t->out, " %12.*f", t->unit->decimals,
                  (double) ns / t->unit->ns);
}

static void put_row(const table *t, const mo_report_method_row *row)
{
    char cell[CELL_ROOM];
    char text[MO_FORMAT_SIZE];
    const char *gap = "-";

    mo_out_printf(t->out, "%-*s", t->name_width, row->method);
    if (row->why) {
        mo_out_printf(t->out, " %12s  %s\n", "-", row->why);
        return;
    }
    put_time(t, row->makespan_ns);
    if (t->p->single == MO_FREE || row->makespan_ns == 0)
        mo_out_printf(t->out, " %9s", "-");
    else
        mo_out_printf(t->out, " %7.3f x",
                      (double) t->p->single_ns / (double) row->makespan_ns);
    if (t->p->is_infeasible)
        mo_out_printf(t->out, " %12s", "-");
    else
        put_time(t, t->p->bound_ns);
    if (mo_report_methods_has_gap(t->p, row))
        gap = mo_format_percent(mo_report_methods_gap(t->p, row), text);
    mo_out_printf(t->out, " %8s", gap);
    memory_cell(t->p, row, cell);
    mo_out_text(t->out, "  ");
    put_padded(t->out, cell, t->memory_width);
    mo_out_printf(t->out, " %8.2f%s", row->seconds,
                  row->fits ? "" : "  does not fit");
    if (row->ended_by)
        mo_out_printf(t->out, "; the %s ended the search", row->ended_by);
    mo_out_text(t->out, "\n");
}

static void put_amount(const table *t, int64_t ns)
{
    mo_out_printf(t->out, "%.*f %s", t->unit->decimals,
                  (double) ns / t->unit->ns, t->unit->name);
}

static void put_single(const table *t, const mo_report_method_row *best)
{
    const mo_report_methods *p = t->p;
    char name[NAME_ROOM];

    if (p->single == MO_FREE) {
        mo_out_text(t->out, "no device can take everything alone\n");
        return;
    }
    mo_out_text(t->out, best && best->makespan_ns >= p->single_ns
                            ? "one device is best: "
                            : "best single device: ");
    mo_out_printf(t->out, "%s alone takes ", device_name(p, p->single, name));
    put_amount(t, p->single_ns);
    mo_out_text(t->out, "\n");
}

/* What a search proves of ns beyond the bound, where that can be seen. */
static void put_search(const table *t, int64_t ns, int64_t bound_ns,
                       int64_t search_ns)
{
    char gap[MO_FORMAT_SIZE], shown[MO_FORMAT_SIZE];

    mo_format_percent(gap_to(ns, search_ns), gap);
    mo_format_percent(gap_to(ns, bound_ns), shown);
    if (search_ns <= bound_ns || strcmp(gap, shown) == 0)
        return;
    mo_out_text(t->out, "the search proves ");
    put_amount(t, search_ns);
    mo_out_printf(t->out, ", gap %s %%, but has no certificate of it\n", gap);
}

static void put_bound(const table *t, const mo_report_method_row *best)
{
    const mo_report_methods *p = t->p;

    if (p->is_infeasible)
        mo_out_text(t->out, "proven infeasible: no placement fits\n");
    if (p->is_infeasible || p->bound_ns == 0)
        return;
    mo_out_text(t->out, best && best->makespan_ns <= p->bound_ns
                            ? "proven optimal: "
                            : "bound: ");
    mo_out_text(t->out, "no placement takes less than ");
    put_amount(t, p->bound_ns);
    mo_out_printf(t->out, " (%s)\n", p->bound_by);
    if (best)
        put_search(t, best->makespan_ns, p->bound_ns, p->search_ns);
}

/* The pipeline of the best placement, and replication instead. */
static void put_pipeline(const table *t, const mo_report_method_row *best)
{
    const mo_report_methods *p = t->p;

    if (!has_period(p) || !best)
        return;
    if (best->in_flight == 0) {
        mo_out_printf(t->out, "bottleneck: %s\n", best->bottleneck);
        return;
    }
    mo_out_printf(t->out, "pipeline: %d in flight", best->in_flight);
    if (best->least_in_flight < best->in_flight)
        mo_out_printf(t->out, " (at least %d)", best->least_in_flight);
    else
        mo_out_text(t->out, " (the least)");
    mo_out_text(t->out, ", a request takes ");
    put_amount(t, best->latency_ns);
    if (best->steady_ns > best->makespan_ns) {
        mo_out_text(t->out, ", stages repeat every ");
        put_amount(t, best->steady_ns);
    }
    mo_out_printf(t->out, "; bottleneck: %s\n", best->bottleneck);
    if (p->n_replicas == 0 || p->copies)
        return;
    mo_out_printf(t->out, "replication on %d device%s%s: ", p->n_replicas,
                  p->n_replicas == 1 ? "" : "s",
                  p->replicas_ns < best->makespan_ns ? " is faster" : "");
    put_amount(t, p->replicas_ns);
    mo_out_text(t->out, "\n");
}

static void put_losses(const table *t)
{
    const mo_report_methods *p = t->p;
    char makespan[CELL_ROOM], name[NAME_ROOM];

    snprintf(makespan, sizeof makespan, "makespan/%s", t->unit->name);
    mo_out_printf(t->out, "\n%-*s %12s %9s\n", NAME_ROOM - 1, "without",
                  makespan, "loss/%");
    for (int k = 0; k < p->x->n_devices; k++) {
        put_padded(t->out, device_name(p, k, name), NAME_ROOM - 1);
        if (p->losses[k].why) {
            mo_out_printf(t->out, " %12s  %s\n", "-", p->losses[k].why);
            continue;
        }
        put_time(t, p->losses[k].makespan_ns);
        mo_out_printf(t->out, " %9.2f\n", 100 * mo_report_methods_loss(p, k));
    }
}

/* Returns whether a copy has ops on a device. */
static bool has_ops(const mo_report_methods *p, const mo_replica *copy, int k)
{
    for (int i = 0; i < p->x->n; i++)
        if (copy->device[i] == k)
            return true;
    return false;
}

static void put_copies(const table *t)
{
    const mo_report_methods *p = t->p;
    char name[NAME_ROOM], gap[MO_FORMAT_SIZE];

    if (p->n_copies == 0) {
        mo_out_text(t->out, "\ncopies: none found\n");
        return;
    }
    mo_out_printf(t->out, "\n%d cop%s: ", p->n_copies,
                  p->n_copies == 1 ? "y" : "ies");
    put_amount(t, p->copies_ns);
    mo_out_text(t->out, ", bound ");
    put_amount(t, p->copies_bound_ns);
    mo_out_printf(
        t->out, ", gap %s %%\n",
        mo_format_percent(gap_to(p->copies_ns, p->copies_bound_ns), gap));
    put_search(t, p->copies_ns, p->copies_bound_ns, p->copies_search_ns);
    for (int c = 0; c < p->n_copies; c++) {
        mo_out_printf(t->out, "    copy %d: ", c + 1);
        put_amount(t, p->copies[c].period_ns);
        mo_out_text(t->out, " on");
        for (int k = 0; k < p->x->n_devices; k++)
            if (has_ops(p, &p->copies[c], k))
                mo_out_printf(t->out, " %s", device_name(p, k, name));
        mo_out_text(t->out, "\n");
    }
}

/* "op 'conv1' on A", "transfers from A to B". */
static void put_scenario(const table *t, const mo_stress *worst)
{
    const mo_report_methods *p = t->p;
    char name[NAME_ROOM], other[CELL_ROOM * 2];

    if (worst->op != MO_FREE)
        mo_out_printf(t->out, "op %s",
                      mo_utf8_escape_controls(other, sizeof other,
                                              p->x->op_names[worst->op]));
    else if (worst->from != MO_FREE)
        mo_out_printf(t->out, "transfers from %s to %s",
                      device_name(p, worst->from, name),
                      mo_utf8_escape_controls(other, sizeof other,
                                              p->x->device_ids[worst->to]));
    else
        mo_out_text(t->out, "nothing");
    mo_out_text(t->out, "\n");
}

/* Worst cases, in the order of the rows. */
static void put_stress(const table *t)
{
    const mo_report_methods *p = t->p;
    char worst[CELL_ROOM];

    snprintf(worst, sizeof worst, "worst/%s", t->unit->name);
    mo_out_printf(t->out, "\n%-*s %12s %9s  %s %.4g\n", t->name_width, "method",
                  worst, "longer/%", "slower by", p->stress);
    for (int i = 0; i < p->n; i++) {
        const mo_report_method_row *row = &p->rows[i];

        if (row->why)
            continue;
        mo_out_printf(t->out, "%-*s", t->name_width, row->method);
        put_time(t, row->worst.worst_ns);
        mo_out_printf(t->out, " %9.2f  ",
                      row->makespan_ns > 0
                          ? 100 * ((double) row->worst.worst_ns /
                                       (double) row->makespan_ns -
                                   1)
                          : 0);
        put_scenario(t, &row->worst);
    }
}

void mo_report_methods_text(const mo_report_methods *p, mo_out *out)
{
    int64_t shortest_ns =
        p->n > 0 && !p->rows[0].why ? p->rows[0].makespan_ns : p->bound_ns;
    const table t = { p, mo_format_time_unit(shortest_ns), name_width(p),
                      memory_width(p), out };
    const mo_report_method_row *best = mo_report_methods_best(p);
    char makespan[CELL_ROOM];
    char bound[CELL_ROOM];

    /* "makespan/ms" defines the widths below. */
    snprintf(makespan, sizeof makespan, "%s/%s",
             has_period(t.p) ? "period" : "makespan", t.unit->name);
    snprintf(bound, sizeof bound, "bound/%s", t.unit->name);
    mo_out_printf(t.out, "%-*s %12s %9s %12s %8s  %-*s %8s\n", t.name_width,
                  "method", makespan, "vs single", bound, "gap/%",
                  t.memory_width, "memory peak", "seconds");
    for (int i = 0; i < p->n; i++)
        put_row(&t, &p->rows[i]);
    mo_out_text(out, "\n");
    put_single(&t, best);
    put_bound(&t, best);
    put_pipeline(&t, best);
    if (p->losses && best)
        put_losses(&t);
    if (p->copies)
        put_copies(&t);
    if (p->stress > 0)
        put_stress(&t);
    if (p->replan && best)
        mo_report_replan_text(p->replan, out);
}

static void json_losses(const mo_report_methods *p, mo_json_writer *w)
{
    mo_json_begin_array(w, "without", MO_JSON_BLOCK);
    for (int k = 0; k < p->x->n_devices; k++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "device", p->x->device_ids[k]);
        if (p->losses[k].why) {
            mo_json_put_text(w, "why", p->losses[k].why);
        } else {
            mo_json_put_us(w, "makespan_us", p->losses[k].makespan_ns);
            mo_json_put_double(w, "loss", mo_report_methods_loss(p, k));
        }
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void json_copies(const mo_report_methods *p, mo_json_writer *w)
{
    mo_json_begin_object(w, "replicas", MO_JSON_LINES);
    if (p->n_copies > 0)
        mo_json_put_us(w, "period_us", p->copies_ns);
    mo_json_put_us(w, "bound_us", p->copies_bound_ns);
    if (p->n_copies > 0)
        mo_json_put_double(w, "gap", gap_to(p->copies_ns, p->copies_bound_ns));
    mo_json_put_us(w, "proven_us", p->copies_search_ns);
    mo_json_begin_array(w, "copies", MO_JSON_BLOCK);
    for (int c = 0; c < p->n_copies; c++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_us(w, "period_us", p->copies[c].period_ns);
        mo_json_begin_array(w, "devices", MO_JSON_INLINE);
        for (int k = 0; k < p->x->n_devices; k++)
            if (has_ops(p, &p->copies[c], k))
                mo_json_put_text(w, NULL, p->x->device_ids[k]);
        mo_json_end(w);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_end(w);
}

static void json_stress(const mo_report_methods *p, const mo_stress *worst,
                        mo_json_writer *w)
{
    mo_json_begin_object(w, "stress", MO_JSON_INLINE);
    mo_json_put_double(w, "factor", p->stress);
    mo_json_put_us(w, "worst_us", worst->worst_ns);
    if (worst->op != MO_FREE)
        mo_json_put_text(w, "op", p->x->op_names[worst->op]);
    if (worst->from != MO_FREE) {
        mo_json_put_text(w, "from", p->x->device_ids[worst->from]);
        mo_json_put_text(w, "to", p->x->device_ids[worst->to]);
    }
    mo_json_end(w);
}

static void json_pipeline(const mo_report_method_row *row, mo_json_writer *w)
{
    mo_json_put_us(w, "steady_period_us", row->steady_ns);
    mo_json_put_us(w, "latency_us", row->latency_ns);
    mo_json_put_int(w, "in_flight", row->in_flight);
    mo_json_put_int(w, "least_in_flight", row->least_in_flight);
    mo_json_put_bool(w, "in_flight_is_least",
                     row->least_in_flight >= row->in_flight);
}

void mo_report_methods_json(const mo_report_methods *p, mo_out *out)
{
    mo_json_writer w = { .out = out };

    mo_json_begin_array(&w, NULL, MO_JSON_BLOCK);
    for (int i = 0; i < p->n; i++) {
        const mo_report_method_row *row = &p->rows[i];

        mo_json_begin_object(&w, NULL, MO_JSON_LINES);
        mo_json_put_text(&w, "method", row->method);
        if (row->why)
            mo_json_put_text(&w, "why", row->why);
        if (row->why && row->ended_by)
            mo_json_put_text(&w, "ended_by", row->ended_by);
        if (!row->why) {
            if (row->steady_ns > 0) {
                mo_json_put_us(&w, "period_us", row->makespan_ns);
                if (row->in_flight > 0)
                    json_pipeline(row, &w);
                mo_json_put_text(&w, "bottleneck", row->bottleneck);
                if (p->n_replicas > 0)
                    mo_json_put_us(&w, "replicas_us", p->replicas_ns);
            } else {
                mo_json_put_us(&w, "makespan_us", row->makespan_ns);
            }
            if (p->single != MO_FREE)
                mo_json_put_us(&w, "best_single_us", p->single_ns);
            if (p->is_infeasible)
                mo_json_put_null(&w, "bound_us");
            else
                mo_json_put_us(&w, "bound_us", p->bound_ns);
            if (mo_report_methods_has_gap(p, row))
                mo_json_put_double(&w, "gap", mo_report_methods_gap(p, row));
            mo_json_put_bool(&w, "optimal",
                             row->fits && (row->makespan_ns <= p->bound_ns ||
                                           row->makespan_ns == p->search_ns));
            mo_json_put_bool(&w, "fits", row->fits);
            if (row->ended_by)
                mo_json_put_text(&w, "ended_by", row->ended_by);
            if (row->fullest != MO_FREE) {
                mo_json_put_text(&w, "fullest", p->x->device_ids[row->fullest]);
                mo_json_put_int(&w, "peak_bytes", row->peak_bytes);
                mo_json_put_int(&w, "capacity_bytes",
                                p->x->capacity_bytes[row->fullest]);
            }
            if (row->lower_ns > 0)
                mo_json_put_us(&w, "proven_us", row->lower_ns);
            if (p->stress > 0)
                json_stress(p, &row->worst, &w);
            mo_json_put_int(&w, "rounds", row->rounds);
        }
        mo_json_put_key(&w, "seconds");
        mo_out_printf(out, "%.3f", row->seconds);
        if (i == 0 && p->losses && mo_report_methods_best(p))
            json_losses(p, &w);
        if (i == 0 && p->copies)
            json_copies(p, &w);
        if (i == 0 && p->replan && mo_report_methods_best(p))
            mo_report_replan_json(p->replan, &w);
        if (i == 0)
            mo_runtime_put_settings(p->settings, &w);
        mo_json_end(&w);
    }
    mo_json_end(&w);
}
