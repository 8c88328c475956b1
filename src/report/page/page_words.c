/* SPDX-License-Identifier: Apache-2.0 */
/* Explanation of a placement in sentences. */
#include "report/page/page.h"

#include <stdio.h>
#include <string.h>

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

static void put_bound(const words *w, int64_t bound_ns, const char *how,
                      const char *by)
{
    char gap[MO_FORMAT_SIZE], name[NAME_ROOM];

    mo_utf8_escape_controls(name, sizeof name, by);
    if (mo_page_gap(w->p, bound_ns) == 0)
        mo_out_printf(w->out, "No placement is faster (%s %s).\n", how, name);
    else
        mo_out_printf(
            w->out, "No placement is faster by more than %s %% (%s %s).\n",
            mo_format_percent(mo_page_gap(w->p, bound_ns), gap), how, name);
}

static void put_objective(const words *w)
{
    const mo_instance *x = w->page->x;
    char time[MO_FORMAT_SIZE];
    int used = count_used(w);

    mo_out_printf(w->out, "%d ops on %d of %d devices: ", x->n, used,
                  x->n_devices);
    if (mo_page_is_period(w->p))
        mo_out_printf(w->out,
                      "with many requests in flight one is finished "
                      "every %s",
                      mo_format_time(mo_page_objective_ns(w->p), time));
    else
        mo_out_printf(w->out, "one request takes %s",
                      mo_format_time(mo_page_objective_ns(w->p), time));
    mo_out_text(w->out, ".\n");
    if (w->p->claimed_ns > 0)
        put_bound(w, w->p->claimed_ns, "claimed by", w->p->claimed_by);
    if (w->p->bound_ns > 0)
        put_bound(w, w->p->bound_ns, "proven by", w->p->bound_by);
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

static void put_bottleneck(const words *w)
{
    const mo_answer_evaluation *j = w->p->evaluation;
    char time[MO_FORMAT_SIZE], name[NAME_ROOM];

    if (!mo_page_is_period(w->p))
        return;
    mo_out_printf(w->out,
                  "The bottleneck is %s; %d requests are in flight, and one "
                  "takes %s from begin to end.\n",
                  mo_utf8_escape_controls(name, sizeof name, j->bottleneck),
                  j->in_flight, mo_format_time(j->latency_ns, time));
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

static void put_unused(const words *w)
{
    char id[NAME_ROOM];

    for (int k = 0; k < w->page->x->n_devices; k++)
        if (w->p->shares->devices[k].n_ops == 0)
            mo_out_printf(w->out, "%s is not used.\n", device_id(w, k, id));
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
            mo_out_printf(w->out, "Without %s it would take %.1f %% longer.\n",
                          id, 100 * change);
        else
            mo_out_printf(w->out, "%s gains nothing here.\n", id);
    }
}

static void put_measured(const words *w)
{
    const mo_page_measured *measured = w->page->measured;
    char time[MO_FORMAT_SIZE];
    int64_t ns = w->s->makespan_ns;

    if (!measured || ns == 0)
        return;
    mo_out_printf(w->out,
                  "Measured, it took %s, %+.1f %% against the "
                  "prediction.\n",
                  mo_format_time(measured->makespan_ns, time),
                  100 * ((double) measured->makespan_ns / (double) ns - 1));
}

mo_status mo_page_words(const mo_page *page, mo_out *out, mo_error *err)
{
    words w = { .page = page,
                .p = &page->placements[0],
                .s = page->placements[0].evaluation->schedule,
                .out = out };

    put_objective(&w);
    put_single(&w);
    put_bottleneck(&w);
    put_path(&w);
    put_memory(&w);
    put_unused(&w);
    put_losses(&w);
    put_measured(&w);
    return mo_out_failure(out, err);
}
