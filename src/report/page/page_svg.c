/* SPDX-License-Identifier: Apache-2.0 */
/* Timeline as a picture: a row for each device and each pair with transfers. */
#include "report/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format_units.h"

enum {
    WIDTH = 1200,
    LEFT = 150,
    RIGHT = 20,
    TOP = 40,
    ROW = 26,
    BAR = 18,
    TICKS = 8,
    N_COLORS = 8,
    TITLE_ROOM = 512
};

/* Okabe and Ito: distinguishable with any color vision. */
static const char *const colors[N_COLORS] = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7",
    "#56b4e9", "#d55e00", "#f0e442", "#999999",
};

typedef struct picture {
    const mo_page *page;
    const mo_page_placement *p;
    const mo_schedule *s;
    mo_out *out;
    int64_t end_ns, period_ns; /* period_ns 0: the objective is latency */
    char *on_path;             /* by op, then by transfer */
    double *until;             /* by row: right end of what is drawn */
} picture;

static double x_of(const picture *c, int64_t ns)
{
    return LEFT +
           (double) (WIDTH - LEFT - RIGHT) * (double) ns / (double) c->end_ns;
}

static int count_rows(const picture *c)
{
    return c->page->x->n_devices * (c->page->measured ? 2 : 1) +
           c->p->shares->n_pairs;
}

static void put_label(const picture *c, int row, const char *text)
{
    mo_out_printf(c->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                  LEFT - 8, TOP + row * ROW + 14);
    mo_out_xml(c->out, text);
    mo_out_text(c->out, "</text>\n");
}

/* Draws a bar; one narrower than a tenth of a pixel is drawn only where none
 * has been. */
static void put_bar(picture *c, int row, int64_t start_ns, int64_t end_ns,
                    int color, bool critical, const char *title)
{
    double from = x_of(c, start_ns), to = x_of(c, end_ns);

    if (to - from < 0.1) {
        if (from < c->until[row])
            return;
        to = from + 0.1;
    }
    c->until[row] = to;
    mo_out_printf(c->out,
                  "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" "
                  "fill=\"%s\"%s><title>",
                  from, TOP + row * ROW, to - from, BAR,
                  colors[color % N_COLORS],
                  critical ? " stroke=\"#000\" stroke-width=\"1\"" : "");
    mo_out_xml(c->out, title);
    mo_out_text(c->out, "</title></rect>\n");
}

/* A bar of the schedule, in one period of it where it repeats. */
static void put_scheduled(picture *c, int row, int64_t start_ns, int64_t end_ns,
                          int color, bool critical, const char *title)
{
    mo_page_span pieces[2];
    int n = mo_page_fold(c->period_ns, start_ns, end_ns, pieces);

    for (int i = 0; i < n; i++)
        put_bar(c, row, pieces[i].start_ns, pieces[i].end_ns, color, critical,
                title);
}

static void put_pair(picture *c, int row, const mo_pair_share *pair)
{
    const mo_instance *x = c->page->x;
    char label[64];

    snprintf(label, sizeof label, "%.12s > %.12s", x->device_ids[pair->from],
             x->device_ids[pair->to]);
    put_label(c, row, label);
    for (int i = 0; i < c->s->n_transfers; i++) {
        const mo_transfer *t = &c->s->transfers[i];

        if (t->from != pair->from || t->to != pair->to)
            continue;
        put_scheduled(c, row, t->start_ns, t->end_ns, pair->from,
                      c->on_path[c->s->n + i],
                      x->op_names[x->tensor_from[mo_schedule_tensor(c->page->x,
                                                                    c->s, t)]]);
    }
}

static void put_axis(const picture *c, int height)
{
    char time[MO_FORMAT_SIZE];

    for (int i = 0; i <= TICKS; i++) {
        int64_t ns = c->end_ns / TICKS * i;
        double x = x_of(c, ns);

        mo_out_printf(c->out,
                      "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" "
                      "stroke=\"#ccc\"/>\n<text x=\"%.2f\" y=\"%d\" "
                      "text-anchor=\"%s\">%s</text>\n",
                      x, TOP - 6, x, height - 24, i == TICKS ? x + RIGHT : x,
                      height - 8, i == TICKS ? "end" : "middle",
                      mo_format_us((double) ns / 1000, time));
    }
}

static void draw(picture *c)
{
    int n_devices = c->page->x->n_devices;
    int height = TOP + count_rows(c) * ROW + 34;
    char time[MO_FORMAT_SIZE];
    const mo_instance *x;
    int rows_each;
    char title[TITLE_ROOM];
    const mo_page_measured *m;

    mo_out_printf(c->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                  "height=\"%d\" viewBox=\"0 0 %d %d\" "
                  "style=\"max-width:100%%;height:auto\" "
                  "font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                  "<text x=\"%d\" y=\"20\" font-size=\"15\">",
                  WIDTH, height, WIDTH, height, LEFT);
    mo_out_xml(c->out, c->page->graph_file);
    if (c->period_ns > 0)
        mo_out_printf(c->out, ": one period of the steady state, %s</text>\n",
                      mo_format_time(c->period_ns, time));
    else
        mo_out_printf(c->out,
                      ": %s; bars with a border are the critical path"
                      "</text>\n",
                      mo_format_time(c->s->makespan_ns, time));
    put_axis(c, height);
    x = c->page->x;
    rows_each = c->page->measured ? 2 : 1;
    for (int k = 0; k < x->n_devices; k++)
        put_label(c, k * rows_each, x->device_ids[k]);
    for (int i = 0; i < c->s->n; i++) {
        int k = c->s->device[i];
        int64_t p_ns = mo_instance_p_ns(x, i, k);

        snprintf(title, sizeof title, "%.400s, %s", x->op_names[i],
                 mo_format_time(p_ns, time));
        put_scheduled(c, k * rows_each, c->s->start_ns[i],
                      c->s->start_ns[i] + p_ns, k, c->on_path[i], title);
    }
    m = c->page->measured;
    for (int k = 0; m && k < c->page->x->n_devices; k++)
        put_label(c, 2 * k + 1, "measured");
    for (int i = 0; m && i < m->n; i++)
        if (!m->events[i].is_transfer)
            put_bar(c, 2 * m->events[i].device + 1, m->events[i].start_ns,
                    m->events[i].end_ns, m->events[i].device, false,
                    m->events[i].name);
    for (int i = 0; i < c->p->shares->n_pairs; i++)
        put_pair(c, n_devices * (c->page->measured ? 2 : 1) + i,
                 &c->p->shares->pairs[i]);
    mo_out_text(c->out, "</svg>\n");
}

mo_status mo_page_svg(const mo_page *page, mo_out *out, mo_error *err)
{
    picture c = { .page = page, .p = &page->placements[0], .out = out };
    mo_status status = MO_OK;

    c.s = mo_page_schedule(c.p);
    c.end_ns = mo_page_span_ns(c.p);
    if (c.p->loads)
        c.period_ns = c.end_ns;
    if (page->measured && page->measured->makespan_ns > c.end_ns)
        c.end_ns = page->measured->makespan_ns;
    if (c.end_ns < TICKS)
        c.end_ns = TICKS;
    c.on_path = calloc((size_t) c.s->n + (size_t) c.s->n_transfers + 1, 1);
    c.until = calloc((size_t) count_rows(&c) + 1, sizeof *c.until);
    if (!c.on_path || !c.until)
        status = mo_fail_memory(err);
    for (int i = 0; status == MO_OK && i < c.p->path->n; i++) {
        const mo_path_item *item = &c.p->path->items[i];

        c.on_path[item->id + (item->is_transfer ? c.s->n : 0)] = 1;
    }
    if (status == MO_OK)
        draw(&c);
    free(c.until);
    free(c.on_path);
    return status;
}
