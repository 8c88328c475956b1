/* SPDX-License-Identifier: Apache-2.0 */
/* Explanation of a placement in sentences. */
#include "report/page/page.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/utf8.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200 };

typedef struct words {
    const mo_page *page;
    const mo_page_placement *p;
    const mo_schedule *s;
    mo_out *out;
} words;

static const char *device_id(const words *w, int k, char text[NAME_ROOM])
{
    return mo_utf8_escape_controls(text, NAME_ROOM, w->page->x->device_ids[k]);
}

static double percent_of(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double) part / (double) whole : 0;
}

static int count_used(const words *w)
{
    int n = 0;

    for (int k = 0; k < w->page->x->n_devices; k++)
        n += w->p->shares->devices[k].n_ops > 0;
    return n;
}

/* One gap: to a bound that the file claims, if that is larger than the one
 * recomputed here, which is then a footnote. */
static void put_bound(const words *w)
{
    bool is_claim = w->p->claimed_ns > 0;
    int64_t bound_ns = is_claim ? w->p->claimed_ns : w->p->bound_ns;
    char gap[MO_FORMAT_SIZE], name[NAME_ROOM];

    if (bound_ns <= 0)
        return;
    mo_out_text(w->out, "No placement is faster");
    if (mo_page_gap(w->p, bound_ns) > 0)
        mo_out_printf(w->out, " by more than %s %%",
                      mo_format_percent(mo_page_gap(w->p, bound_ns), gap));
    mo_utf8_escape_controls(name, sizeof name,
                            is_claim ? w->p->claimed_by : w->p->bound_by);
    if (!is_claim)
        mo_out_printf(w->out, " (proven by %s).\n", name);
    else if (w->p->bound_ns > 0)
        mo_out_printf(w->out,
                      " (claimed by %s in the file, not proven again; the "
                      "bound recomputed here is %s).\n",
                      name, mo_format_time(w->p->bound_ns, gap));
    else
        mo_out_printf(w->out,
                      " (claimed by %s in the file, not proven again)"
                      ".\n",
                      name);
}

static void put_single(const words *w)
{
    const mo_answer_evaluation *j = w->p->evaluation;
    int64_t ns = mo_page_objective_ns(w->p);
    char id[NAME_ROOM], time[MO_FORMAT_SIZE];

    if (j->single == MO_FREE) {
        mo_out_text(w->out, "No single device can run it.\n");
        return;
    }
    mo_out_printf(w->out, "The best single device, %s, takes %s",
                  device_id(w, j->single, id),
                  mo_format_time(j->single_ns, time));
    if (ns < j->single_ns && ns > 0)
        mo_out_printf(w->out, ": this is %.2f times as fast",
                      (double) j->single_ns / (double) ns);
    else if (count_used(w) == 1)
        mo_out_text(w->out, ": the others gain nothing here");
    mo_out_text(w->out, ".\n");
}

static void put_path_device(const words *w, int k, bool *any)
{
    const mo_time_share *share = &w->p->shares->devices[k];
    char id[NAME_ROOM];

    if (share->path_ns == 0)
        return;
    mo_out_printf(w->out, "%s%.1f %% computation on %s", *any ? ", " : "",
                  percent_of(share->path_ns, w->s->makespan_ns),
                  device_id(w, k, id));
    *any = true;
}

static void put_path(const words *w)
{
    const mo_time_shares *shares = w->p->shares;
    bool any = false;

    if (w->s->makespan_ns == 0)
        return;
    mo_out_text(w->out, "Its critical path is ");
    for (int k = 0; k < w->page->x->n_devices; k++)
        put_path_device(w, k, &any);
    if (shares->path_transfer_ns > 0)
        mo_out_printf(w->out, "%s%.1f %% transfers", any ? ", " : "",
                      percent_of(shares->path_transfer_ns, w->s->makespan_ns));
    if (shares->path_gap_ns > 0)
        mo_out_printf(w->out, ", %.1f %% waiting for memory",
                      percent_of(shares->path_gap_ns, w->s->makespan_ns));
    if (shares->path_transfer_ns > 0)
        mo_out_printf(w->out,
                      "; faster links gain at most that %.1f %% with this "
                      "placement",
                      percent_of(shares->path_transfer_ns, w->s->makespan_ns));
    mo_out_text(w->out, ".\n");
}

/* The devices, and the host, limit the period of this placement over any
 * links. */
static void put_link_gain(const words *w)
{
    const mo_period_loads *loads = w->p->loads;
    int host = mo_period_host(w->page->x, w->page->regime.congestion);
    int64_t least_ns = host < 0 ? 0 : loads->load_ns[host];
    int64_t ns = mo_page_objective_ns(w->p);

    for (int k = 0; k < w->page->x->n_devices; k++)
        least_ns = mo_max_i64(least_ns, loads->load_ns[k]);
    if (least_ns >= ns)
        mo_out_text(w->out, "Faster links gain nothing with this placement.\n");
    else
        mo_out_printf(w->out,
                      "Faster links shorten the period by %.1f %% at most with "
                      "this placement.\n",
                      percent_of(ns - least_ns, ns));
}

static void put_bottleneck(const words *w)
{
    const mo_answer_evaluation *j = w->p->evaluation;
    const mo_period_loads *loads = w->p->loads;
    char time[MO_FORMAT_SIZE], name[NAME_ROOM];

    mo_out_printf(w->out,
                  "The bottleneck is %s, busy for %.1f %% of the period; %d "
                  "request%s in flight, and one takes %s from begin to end.\n",
                  mo_utf8_escape_controls(name, sizeof name, j->bottleneck),
                  100 * mo_page_load_share(w->p, loads->bottleneck),
                  j->in_flight, j->in_flight == 1 ? " is" : "s are",
                  mo_format_time(j->latency_ns, time));
    if (j->period_ns > loads->period_ns)
        mo_out_printf(w->out,
                      "The limit of requests in flight, or memory, keeps the "
                      "period above the largest load, %s.\n",
                      mo_format_time(loads->period_ns, time));
    else if (j->period_ns > 0 && j->pipeline.period_ns > j->period_ns)
        mo_out_printf(w->out,
                      "The schedule shown repeats every %s: its transfers do "
                      "not fit into less.\n",
                      mo_format_time(j->pipeline.period_ns, time));
    put_link_gain(w);
}

/* A whole copy of the network on each device instead. */
static void put_replicas(const words *w)
{
    int64_t ns = mo_page_objective_ns(w->p);
    char time[MO_FORMAT_SIZE];

    if (w->page->n_replicas == 0 || w->page->replicas_ns >= ns ||
        w->page->n_copies > 0)
        return;
    mo_out_printf(w->out,
                  "Replication is faster: with a whole copy on %s%d device%s "
                  "a request is finished every %s.\n",
                  w->page->n_replicas == 1 ? "" : "each of ",
                  w->page->n_replicas, w->page->n_replicas == 1 ? "" : "s",
                  mo_format_time(w->page->replicas_ns, time));
}

/* Devices with a tenth of their memory left, or less. */
static void put_memory(const words *w)
{
    const mo_instance *x = w->page->x;
    char id[NAME_ROOM], used[MO_FORMAT_SIZE], most[MO_FORMAT_SIZE];

    for (int k = 0; k < x->n_devices; k++) {
        int64_t peak = w->p->evaluation->verdict->peak_bytes[k];
        int64_t capacity = x->capacity_bytes[k];

        if (capacity == INT64_MAX || capacity == 0 ||
            (double) peak < 0.9 * (double) capacity)
            continue;
        mo_out_printf(w->out, "Memory of %s is %.1f %% full (%s of %s).\n",
                      device_id(w, k, id), percent_of(peak, capacity),
                      mo_format_bytes((double) peak, used),
                      mo_format_bytes((double) capacity, most));
    }
}

/* Placements without a device may be of a shorter search than this one. */
static void put_losses(const words *w)
{
    const mo_report_methods *m = w->page->methods;
    double now_ns = (double) mo_page_objective_ns(w->p);
    char id[NAME_ROOM], why[NAME_ROOM];

    if (!m || !m->losses || now_ns <= 0)
        return;
    for (int k = 0; k < w->page->x->n_devices; k++) {
        double change = (double) m->losses[k].makespan_ns / now_ns - 1;

        device_id(w, k, id);
        if (m->losses[k].why)
            mo_out_printf(
                w->out, "Without %s there is no placement: %s.\n", id,
                mo_utf8_escape_controls(why, sizeof why, m->losses[k].why));
        else if (change > 0)
            mo_out_printf(w->out, "Without %s %s %.1f %% longer.\n", id,
                          w->p->loads ? "the period would be" : "it would take",
                          100 * change);
        else
            mo_out_printf(w->out, "%s gains nothing here.\n", id);
    }
}

static void put_measured(const words *w)
{
    const mo_page_measured *measured = w->page->measured;
    char time[MO_FORMAT_SIZE];
    /* A run is one request alone. */
    int64_t ns = w->p->evaluation->schedule->makespan_ns;

    if (!measured || ns == 0)
        return;
    mo_out_printf(w->out,
                  "Measured, %s took %s, %+.1f %% against the "
                  "prediction.\n",
                  w->p->loads ? "one request alone" : "it",
                  mo_format_time(measured->makespan_ns, time),
                  100 * ((double) measured->makespan_ns / (double) ns - 1));
}

mo_status mo_page_words(const mo_page *page, mo_out *out, mo_error *err)
{
    words w = { .page = page,
                .p = &page->placements[0],
                .s = mo_page_schedule(&page->placements[0]),
                .out = out };
    const mo_instance *x;
    char time[MO_FORMAT_SIZE];
    int used;
    char id[NAME_ROOM];

    x = w.page->x;
    used = count_used(&w);
    if (page->n_copies > 0)
        mo_out_printf(w.out,
                      "%d copies of the network finish a request every %s "
                      "together; this is %s.\n",
                      page->n_copies, mo_format_time(page->copies_ns, time),
                      w.p->name);
    mo_out_printf(w.out, "%d ops on %d of %d devices: ", x->n, used,
                  x->n_devices);
    if (mo_page_is_period(w.p))
        mo_out_printf(w.out,
                      "with many requests in flight one is finished "
                      "every %s",
                      mo_format_time(mo_page_objective_ns(w.p), time));
    else
        mo_out_printf(w.out, "one request takes %s",
                      mo_format_time(mo_page_objective_ns(w.p), time));
    mo_out_text(w.out, ".\n");
    /* Both are about all requests. */
    if (page->n_copies == 0) {
        put_bound(&w);
        put_single(&w);
    }
    if (w.p->loads) {
        put_bottleneck(&w);
        put_replicas(&w);
    } else {
        put_path(&w);
    }
    put_memory(&w);
    for (int k = 0; k < w.page->x->n_devices; k++)
        if (w.p->shares->devices[k].n_ops == 0 && page->n_copies == 0)
            mo_out_printf(w.out, "%s is not used.\n", device_id(&w, k, id));
    put_losses(&w);
    put_measured(&w);
    return mo_out_failure(out, err);
}
