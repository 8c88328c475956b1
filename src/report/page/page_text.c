/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: explanation, timeline, and tables of devices and
 * loads. */
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/format_units.h"

enum { LABEL_ROOM = 18, MIN_COLUMNS = 20 };

/* Characters by the occupied share of a column, in tenths from 0 to 10. */
static const char levels[] = " .:-=+*%@##";

typedef struct chart {
    const mo_page *page;
    mo_out *out;
    int columns;       /* of the time axis */
    int64_t end_ns;    /* of the axis */
    int64_t period_ns; /* 0: the objective is latency */
    const mo_schedule *s;
    double *filled; /* by column: occupied share */
} chart;

static void clear_row(chart *c)
{
    for (int i = 0; i < c->columns; i++)
        c->filled[i] = 0;
}

static void fill_interval(chart *c, int64_t start_ns, int64_t end_ns)
{
    double scale = (double) c->columns / (double) c->end_ns;
    double from = (double) start_ns * scale, to = (double) end_ns * scale;

    for (int i = (int) from; i < c->columns && i < to; i++) {
        double left = from > i ? from : i, right = to < i + 1 ? to : i + 1;

        c->filled[i] += right > left ? right - left : 0;
    }
}

/* The same for an interval of the schedule. One that repeats is folded to one
 * period. */
static void fill_scheduled(chart *c, int64_t start_ns, int64_t end_ns)
{
    mo_page_span pieces[2];
    int n = mo_page_fold(c->period_ns, start_ns, end_ns, pieces);

    for (int i = 0; i < n; i++)
        fill_interval(c, pieces[i].start_ns, pieces[i].end_ns);
}

static void put_row(chart *c, const char *label)
{
    char text[200];

    mo_out_printf(c->out, "%-*.*s|", LABEL_ROOM, LABEL_ROOM,
                  mo_utf8_escape_controls(text, sizeof text, label));
    for (int i = 0; i < c->columns; i++) {
        double share = c->filled[i] > 1 ? 1 : c->filled[i];
        int level = (int) (share * 10 + 0.5);

        mo_out_char(c->out, share > 0 && level == 0 ? '.' : levels[level]);
    }
    mo_out_text(c->out, "|\n");
}

static void put_pair(chart *c, const mo_pair_share *pair)
{
    const mo_schedule *s = c->s;
    const char *const *ids = c->page->x->device_ids;
    char label[LABEL_ROOM + 1];
    size_t half = LABEL_ROOM / 2 - 1;

    clear_row(c);
    for (int i = 0; i < s->n_transfers; i++)
        if (s->transfers[i].from == pair->from &&
            s->transfers[i].to == pair->to)
            fill_scheduled(c, s->transfers[i].start_ns, s->transfers[i].end_ns);
    label[0] = '\0';
    strncat(label, ids[pair->from], half);
    strcat(label, ">");
    strncat(label, ids[pair->to], half);
    put_row(c, label);
}

/* Prints the table row of device k. */
static void put_share(chart *c, int k)
{
    const mo_page_placement *p = &c->page->placements[0];
    const mo_time_share *share = &p->shares->devices[k];
    double whole = (double) mo_page_span_ns(p);
    char id[200], memory[MO_FORMAT_SIZE];

    if (whole <= 0)
        whole = 1;
    mo_out_printf(
        c->out, "%-*.*s %6d %8.1f %% %8.1f %% %8.1f %%  %s\n", LABEL_ROOM,
        LABEL_ROOM,
        mo_utf8_escape_controls(id, sizeof id, c->page->x->device_ids[k]),
        share->n_ops, 100 * (double) share->compute_ns / whole,
        100 * (double) share->transfer_ns / whole,
        100 * (double) share->idle_ns / whole,
        mo_format_bytes((double) p->evaluation->verdict->peak_bytes[k],
                        memory));
}

/* Prints the time that each resource is busy for one request, that is, in one
 * period. */
static void put_loads(const chart *c)
{
    const mo_page_placement *p = &c->page->placements[0];
    const mo_period_loads *loads = p->loads;
    char name[200], text[200], time[MO_FORMAT_SIZE];

    mo_out_printf(c->out, "\n%-*s %12s %10s\n", 2 * LABEL_ROOM, "resource",
                  "busy", "period");
    for (int r = 0; r < loads->n; r++) {
        if (loads->load_ns[r] == 0)
            continue;
        mo_period_resource_name(c->page->x, c->page->regime.congestion, r, name,
                                sizeof name);
        mo_out_printf(c->out, "%-*.*s %12s %8.1f %%%s\n", 2 * LABEL_ROOM,
                      2 * LABEL_ROOM,
                      mo_utf8_escape_controls(text, sizeof text, name),
                      mo_format_time(loads->load_ns[r], time),
                      100 * mo_page_load_share(p, r),
                      r == loads->bottleneck ? "  the bottleneck" : "");
    }
}

static void put_chart(chart *c)
{
    const mo_page_placement *p = &c->page->placements[0];
    char end[MO_FORMAT_SIZE];

    for (int k = 0; k < c->page->x->n_devices; k++) {
        clear_row(c);
        for (int i = 0; i < c->s->n; i++)
            if (c->s->device[i] == k)
                fill_scheduled(c, c->s->start_ns[i],
                               c->s->start_ns[i] +
                                   mo_instance_p_ns(c->page->x, i, k));
        put_row(c, c->page->x->device_ids[k]);
        if (c->page->measured) {
            const mo_page_measured *m = c->page->measured;

            clear_row(c);
            for (int i = 0; i < m->n; i++)
                if (m->events[i].device == k && !m->events[i].is_transfer)
                    fill_interval(c, m->events[i].start_ns,
                                  m->events[i].end_ns);
            put_row(c, "  measured");
        }
    }
    for (int i = 0; i < p->shares->n_pairs; i++)
        put_pair(c, &p->shares->pairs[i]);
    mo_out_printf(c->out, "%-*s 0%*s\n\n", LABEL_ROOM, "", c->columns,
                  mo_format_time(c->end_ns, end));
    mo_out_printf(c->out, "%-*s %6s %10s %10s %10s  %s\n", LABEL_ROOM, "device",
                  "ops", "compute", "transfer", "idle", "memory");
    for (int k = 0; k < c->page->x->n_devices; k++)
        put_share(c, k);
    if (p->loads)
        put_loads(c);
}

static mo_status put_placement(const mo_page *page, int columns, mo_out *out,
                               mo_error *err)
{
    chart c = { .page = page, .out = out, .columns = columns - LABEL_ROOM - 2 };
    mo_status status = mo_page_words(page, out, err);

    if (c.columns < MIN_COLUMNS)
        c.columns = MIN_COLUMNS;
    c.s = mo_page_schedule(&page->placements[0]);
    c.end_ns = mo_page_span_ns(&page->placements[0]);
    if (page->placements[0].loads)
        c.period_ns = c.end_ns;
    if (page->measured && page->measured->makespan_ns > c.end_ns)
        c.end_ns = page->measured->makespan_ns;
    if (c.end_ns < 1)
        c.end_ns = 1;
    c.filled = calloc((size_t) c.columns, sizeof *c.filled);
    if (status == MO_OK && !c.filled)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        mo_out_char(out, '\n');
        put_chart(&c);
    }
    free(c.filled);
    return status;
}

/* The copies of a replicated solution stand below each other. */
mo_status mo_page_text(const mo_page *page, int columns, mo_out *out,
                       mo_error *err)
{
    mo_page one = *page;
    mo_status status = put_placement(page, columns, out, err);

    for (int c = 1; c < page->n_copies && status == MO_OK; c++) {
        one.placements = &page->placements[c];
        mo_out_char(out, '\n');
        status = put_placement(&one, columns, out, err);
    }
    return status;
}
