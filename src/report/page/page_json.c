/* SPDX-License-Identifier: Apache-2.0 */
/* Data of the page. Lists with a value for each op or transfer are columns. */
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"

enum { FORMAT = 1 };

static const char *const reason_names[] = {
    [MO_PATH_FIRST] = "first",
    [MO_PATH_INPUT] = "input",
    [MO_PATH_DEVICE] = "device",
    [MO_PATH_TRAFFIC] = "traffic",
};

static void put_bytes(mo_json_writer *w, const char *key, int64_t bytes)
{
    if (bytes < 0 || bytes == INT64_MAX)
        mo_json_put_null(w, key);
    else
        mo_json_put_int(w, key, bytes);
}

/* Lines of text, which is changed. */
static void put_lines(char *text, mo_json_writer *w)
{
    while (*text) {
        char *end = text + strcspn(text, "\n");
        bool last = *end == '\0';

        *end = '\0';
        mo_json_put_text(w, NULL, text);
        text = last ? end : end + 1;
    }
}

static mo_status put_words(const mo_page *page, mo_json_writer *w,
                           mo_error *err)
{
    mo_out *text = NULL;
    char *all = NULL;
    size_t size;
    mo_status status = mo_out_memory(&text, err);

    if (status == MO_OK)
        status = mo_page_words(page, text, err);
    if (status == MO_OK && !(all = mo_out_take(text, &size)))
        status = mo_fail_memory(err);
    mo_json_begin_array(w, "words", MO_JSON_LINES);
    if (all)
        put_lines(all, w);
    mo_json_end(w);
    free(all);
    mo_out_abandon(text);
    return status;
}

static void put_path(const mo_critical_path *path, mo_json_writer *w)
{
    mo_json_begin_array(w, "path", MO_JSON_LINES);
    for (int i = 0; i < path->n; i++) {
        const mo_path_item *item = &path->items[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_int(w, item->is_transfer ? "transfer" : "op", item->id);
        mo_json_put_text(w, "reason", reason_names[item->reason]);
        mo_json_put_us(w, "gap_us", item->gap_ns);
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void put_shares(const mo_page *page, const mo_page_placement *p,
                       mo_json_writer *w)
{
    mo_json_begin_array(w, "shares", MO_JSON_LINES);
    for (int k = 0; k < page->x->n_devices; k++) {
        const mo_time_share *share = &p->shares->devices[k];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_int(w, "ops", share->n_ops);
        mo_json_put_us(w, "compute_us", share->compute_ns);
        mo_json_put_us(w, "transfer_us", share->transfer_ns);
        mo_json_put_us(w, "idle_us", share->idle_ns);
        mo_json_put_us(w, "path_us", share->path_ns);
        mo_json_put_int(w, "peak_bytes", p->evaluation->verdict->peak_bytes[k]);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_begin_array(w, "pairs", MO_JSON_LINES);
    for (int i = 0; i < p->shares->n_pairs; i++) {
        const mo_pair_share *pair = &p->shares->pairs[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_int(w, "from", pair->from);
        mo_json_put_int(w, "to", pair->to);
        mo_json_put_int(w, "transfers", pair->n_transfers);
        put_bytes(w, "bytes", pair->bytes);
        mo_json_put_us(w, "busy_us", pair->busy_ns);
        mo_json_put_us(w, "path_us", pair->path_ns);
        mo_json_end(w);
    }
    mo_json_end(w);
}

/* What each resource does for a request, and so once a period. */
static void put_loads(const mo_page *page, const mo_page_placement *p,
                      mo_json_writer *w)
{
    char name[200];

    mo_json_begin_array(w, "resources", MO_JSON_LINES);
    for (int r = 0; r < p->loads->n; r++) {
        if (p->loads->load_ns[r] == 0)
            continue;
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "name",
                         mo_period_resource_name(page->x,
                                                 page->regime.congestion, r,
                                                 name, sizeof name));
        mo_json_put_us(w, "busy_us", p->loads->load_ns[r]);
        mo_json_end(w);
    }
    mo_json_end(w);
}

/* [[us, bytes], ...] by device. */
static void put_memory(const mo_page *page, const mo_memory_profile *profile,
                       mo_json_writer *w)
{
    size_t at = 0;

    mo_json_begin_array(w, "memory_use", MO_JSON_LINES);
    for (int k = 0; k < page->x->n_devices; k++) {
        mo_json_begin_array(w, NULL, MO_JSON_INLINE);
        for (; at < profile->n && profile->points[at].device == k; at++) {
            mo_json_begin_array(w, NULL, MO_JSON_INLINE);
            mo_json_put_us(w, NULL, profile->points[at].at_ns);
            mo_json_put_int(w, NULL, profile->points[at].bytes);
            mo_json_end(w);
        }
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void put_placement(const mo_page *page, const mo_page_placement *p,
                          mo_json_writer *w)
{
    const mo_answer_evaluation *j = p->evaluation;
    const mo_schedule *s = mo_page_schedule(p);
    const mo_instance *x = page->x;

    mo_json_begin_object(w, NULL, MO_JSON_LINES);
    mo_json_put_text(w, "name", p->name);
    mo_json_put_us(w, "objective_us", mo_page_objective_ns(p));
    mo_json_put_us(w, "makespan_us", j->schedule->makespan_ns);
    if (mo_page_is_period(p)) {
        mo_json_put_us(w, "latency_us", j->latency_ns);
        mo_json_put_int(w, "in_flight", j->in_flight);
        mo_json_put_text(w, "bottleneck", j->bottleneck);
        mo_json_put_us(w, "repeat_us", mo_page_span_ns(p));
        put_loads(page, p, w);
    }
    if (p->bound_ns > 0) {
        mo_json_put_us(w, "bound_us", p->bound_ns);
        mo_json_put_text(w, "bound_by", p->bound_by);
        mo_json_put_double(w, "gap", mo_page_gap(p, p->bound_ns));
    }
    if (p->claimed_ns > 0) {
        mo_json_put_us(w, "claimed_bound_us", p->claimed_ns);
        mo_json_put_text(w, "claimed_by", p->claimed_by);
        mo_json_put_double(w, "claimed_gap", mo_page_gap(p, p->claimed_ns));
    }
    if (j->single != MO_FREE) {
        mo_json_put_int(w, "single", j->single);
        mo_json_put_us(w, "single_us", j->single_ns);
    }
    mo_json_put_ints(w, "device", s->device, s->n);
    mo_json_begin_array(w, "start_us", MO_JSON_INLINE);
    for (int i = 0; i < s->n; i++)
        mo_json_put_us(w, NULL, s->start_ns[i]);
    mo_json_end(w);
    mo_json_begin_array(w, "time_us", MO_JSON_INLINE);
    for (int i = 0; i < s->n; i++)
        mo_json_put_us(w, NULL, mo_instance_p_ns(x, i, s->device[i]));
    mo_json_end(w);
    mo_json_begin_array(w, "transfers", MO_JSON_LINES);
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *t = &s->transfers[i];
        int tensor = mo_schedule_tensor(x, s, t);

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_int(w, "op", x->tensor_from[tensor]);
        if (s->regime.tensors == MO_TENSORS_PER_EDGE)
            mo_json_put_int(w, "reader", x->flows[t->item].to);
        mo_json_put_int(w, "from", t->from);
        mo_json_put_int(w, "to", t->to);
        mo_json_put_us(w, "start_us", t->start_ns);
        mo_json_put_us(w, "time_us", t->end_ns - t->start_ns);
        put_bytes(w, "bytes", x->tensor_bytes[tensor]);
        mo_json_end(w);
    }
    mo_json_end(w);
    put_path(p->path, w);
    put_shares(page, p, w);
    put_memory(page, p->memory, w);
    mo_json_end(w);
}

static void put_measured(const mo_page_measured *m, mo_json_writer *w)
{
    mo_json_begin_object(w, "measured", MO_JSON_LINES);
    mo_json_put_text(w, "file", m->file);
    mo_json_put_us(w, "makespan_us", m->makespan_ns);
    mo_json_begin_array(w, "events", MO_JSON_LINES);
    for (int i = 0; i < m->n; i++) {
        const mo_page_event *e = &m->events[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "name", e->name);
        mo_json_put_int(w, "op", e->op);
        mo_json_put_int(w, "device", e->device);
        mo_json_put_text(w, "kind",
                         !e->is_transfer ? "call"
                         : e->is_sending ? "send"
                                         : "receive");
        mo_json_put_us(w, "start_us", e->start_ns);
        mo_json_put_us(w, "time_us", e->end_ns - e->start_ns);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_end(w);
}

static void put_methods(const mo_page *page, mo_json_writer *w)
{
    const mo_report_methods *m = page->methods;

    mo_json_begin_array(w, "methods", MO_JSON_LINES);
    for (int i = 0; i < m->n; i++) {
        const mo_report_method_row *row = &m->rows[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "method", row->method);
        if (row->why) {
            mo_json_put_text(w, "why", row->why);
        } else {
            mo_json_put_us(w, "objective_us", row->makespan_ns);
            mo_json_put_bool(w, "fits", row->fits);
        }
        mo_json_end(w);
    }
    mo_json_end(w);
    if (!m->losses)
        return;
    mo_json_begin_array(w, "without_device", MO_JSON_LINES);
    for (int k = 0; k < page->x->n_devices; k++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_int(w, "device", k);
        if (m->losses[k].why)
            mo_json_put_text(w, "why", m->losses[k].why);
        else
            mo_json_put_us(w, "objective_us", m->losses[k].makespan_ns);
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void put_graph(const mo_page *page, mo_json_writer *w)
{
    const mo_instance *x = page->x;

    mo_json_begin_object(w, "ops", MO_JSON_LINES);
    mo_json_begin_array(w, "name", MO_JSON_INLINE);
    for (int i = 0; i < x->n; i++)
        mo_json_put_text(w, NULL, x->op_names[i]);
    mo_json_end(w);
    mo_json_begin_array(w, "type", MO_JSON_INLINE);
    for (int i = 0; i < x->n; i++)
        mo_json_put_text(
            w, NULL, page->graph->ops[i].type ? page->graph->ops[i].type : "");
    mo_json_end(w);
    mo_json_begin_array(w, "memory_bytes", MO_JSON_INLINE);
    for (int i = 0; i < x->n; i++)
        mo_json_put_int(w, NULL, x->memory_bytes[i]);
    mo_json_end(w);
    mo_json_end(w);
    mo_json_begin_object(w, "edges", MO_JSON_LINES);
    mo_json_begin_array(w, "from", MO_JSON_INLINE);
    for (int q = 0; q < x->n_flows; q++)
        mo_json_put_int(w, NULL, x->flows[q].from);
    mo_json_end(w);
    mo_json_begin_array(w, "to", MO_JSON_INLINE);
    for (int q = 0; q < x->n_flows; q++)
        mo_json_put_int(w, NULL, x->flows[q].to);
    mo_json_end(w);
    mo_json_end(w);
}

mo_status mo_page_json(const mo_page *page, mo_out *out, mo_error *err)
{
    mo_json_writer w = { .out = out };
    mo_status status;
    const mo_page_placement *p = &page->placements[0];

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_int(&w, "format", FORMAT);
    mo_json_put_text(&w, "graph", page->graph_file);
    mo_json_put_text(&w, "cluster", page->cluster_file);
    mo_json_put_text(&w, "objective", mo_objective_names[mo_page_is_period(p)]);
    mo_json_put_text(&w, "congestion",
                     mo_congestion_names[page->regime.congestion]);
    mo_json_put_text(&w, "tensors", mo_tensors_names[page->regime.tensors]);
    mo_json_put_text(&w, "memory", mo_memory_names[page->regime.memory]);
    status = put_words(page, &w, err);
    mo_json_begin_array(&w, "devices", MO_JSON_LINES);
    for (int k = 0; k < page->x->n_devices; k++) {
        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "id", page->x->device_ids[k]);
        mo_json_put_text(&w, "model", page->cluster->devices[k].model);
        put_bytes(&w, "capacity_bytes", page->x->capacity_bytes[k]);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    put_graph(page, &w);
    mo_json_begin_array(&w, "placements", MO_JSON_LINES);
    for (int i = 0; i < page->n; i++)
        put_placement(page, &page->placements[i], &w);
    mo_json_end(&w);
    if (page->measured)
        put_measured(page->measured, &w);
    if (page->methods)
        put_methods(page, &w);
    if (page->no_losses)
        mo_json_put_text(&w, "no_without_device", page->no_losses);
    if (page->runs)
        mo_report_runs_json(page->runs, &w, "runs");
    if (page->n_copies > 0) {
        mo_json_begin_object(&w, "copies", MO_JSON_INLINE);
        mo_json_put_int(&w, "placements", page->n_copies);
        mo_json_put_us(&w, "objective_us", page->copies_ns);
        mo_json_end(&w);
    }
    if (page->n_replicas > 0) {
        mo_json_begin_object(&w, "replication", MO_JSON_INLINE);
        mo_json_put_int(&w, "devices", page->n_replicas);
        mo_json_put_us(&w, "objective_us", page->replicas_ns);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    return status;
}
