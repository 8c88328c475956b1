/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separation: for each resource and each two events, the loads of the LP
 * solution are placed on a grid by heads and tails, and the sums of all
 * quadrants
 *
 *     heads   |   . # #          right of a tail
 *             |   . # #          and above a head
 *             +--------- tails
 *
 * give the most violated row.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

enum { MAX_LINES = 24 }; /* of the grid, in each direction */

typedef struct load_item {
    int begin, end;
    int64_t head_ns, tail_ns;
    double ns;
} load_item;

typedef struct item_list {
    load_item *items;
    size_t n, room;
} item_list;

typedef struct separator {
    const mo_load_problem *f;
    const mo_load_lp_solution *solution;
    mo_load_rows *rows;
    item_list *lists; /* by resource */
    double times;     /* weight of the present pattern */
    int64_t *sorted;  /* buffer as long as the longest list */
    size_t room;
    mo_status status; /* of the callback that fills the lists */
    mo_error *err;
} separator;

static void add_load(separator *c, int resource, const mo_load_use *used)
{
    item_list *p = &c->lists[resource];

    if (c->status == MO_OK)
        c->status = MO_ARRAY_GROW(p->items, p->n, p->room, c->err);
    if (c->status == MO_OK)
        p->items[p->n++] = (load_item){ used->begin, used->end,
                                        used->item.head_ns, used->item.tail_ns,
                                        c->times * (double) used->item.ns };
}

static void add_use(void *context, const mo_load_use *used)
{
    separator *c = context;
    int pair[2], n;
    const int *ids;

    if (used->from < 0) {
        add_load(c, used->to, used);
        return;
    }
    n = mo_resource_list(c->f->x, c->f->congestion, used->from, used->to, pair,
                         &ids);
    for (int i = 0; i < n; i++)
        add_load(c, c->f->n_devices + ids[i], used);
}

/* Sorts, removes duplicates, and keeps the first and an even sample of the
 * others; returns their number. */
static int sample_lines(int64_t *values, size_t n, int64_t *lines)
{
    size_t different = 0;
    int n_lines = 0;

    qsort(values, n, sizeof *values, mo_compare_i64);
    for (size_t i = 0; i < n; i++)
        if (different == 0 || values[i] != values[different - 1])
            values[different++] = values[i];
    for (size_t i = 0; i < different; i++)
        if (i * MAX_LINES / different >= (size_t) n_lines)
            lines[n_lines++] = values[i];
    return n_lines;
}

typedef struct grid {
    int from, until; /* events */
    int n_heads, n_tails;
    int64_t head_ns[MAX_LINES], tail_ns[MAX_LINES];
    double sum_ns[MAX_LINES + 1][MAX_LINES + 1];
} grid;

static bool is_inside(const grid *g, const load_item *s)
{
    return s->begin >= g->from && s->end < g->until;
}

/* Heads count from T0 only, tails to J only. */
static int64_t item_head_ns(const grid *g, const load_item *s)
{
    return g->from == 0 ? s->head_ns : 0;
}

static int64_t item_tail_ns(const separator *c, const grid *g,
                            const load_item *s)
{
    return g->until == mo_load_last_event(c->f) ? s->tail_ns : 0;
}

/* Returns the last line that is not above the value. */
static int find_line(const int64_t *lines, int n, int64_t value)
{
    int at = 0;

    while (at + 1 < n && lines[at + 1] <= value)
        at++;
    return at;
}

static bool has_row(const mo_load_rows *rows, const mo_load_row *row)
{
    for (size_t i = 0; i < rows->n; i++) {
        const mo_load_row *r = &rows->rows[i];

        if (r->resource == row->resource && r->from == row->from &&
            r->until == row->until && r->head_ns == row->head_ns &&
            r->tail_ns == row->tail_ns)
            return true;
    }
    return false;
}

/* Stores in *worst the row of the grid that is violated most, if by more than
 * *excess_ns. */
static void find_most_violated(const separator *c, const grid *g, int resource,
                               double *excess_ns, mo_load_row *worst)
{
    double given_ns =
        c->solution->event_ns[g->until] - c->solution->event_ns[g->from];

    for (int h = 0; h < g->n_heads; h++)
        for (int t = 0; t < g->n_tails; t++) {
            mo_load_row row = { resource,      g->from,       g->until,
                                g->head_ns[h], g->tail_ns[t], 0 };
            double ns = g->sum_ns[h][t] - given_ns +
                        (double) mo_load_row_base_ns(c->f, &row);

            if (ns > *excess_ns && !has_row(c->rows, &row)) {
                *excess_ns = ns;
                *worst = row;
            }
        }
}

/* Adds the most violated row of the resource, if any is. */
static mo_status separate_resource(separator *c, int resource, double slack_ns,
                                   int *added)
{
    const item_list *p = &c->lists[resource];
    mo_load_row worst = { .resource = -1 };
    mo_status status = MO_OK;
    grid g;

    if (p->n > c->room)
        status = mo_array_reserve((void **) &c->sorted, &c->room, p->n,
                                  sizeof *c->sorted, c->err);
    if (status != MO_OK)
        return status;
    for (g.until = 1; g.until <= mo_load_last_event(c->f); g.until++)
        for (g.from = 0; g.from < g.until; g.from++) {
            size_t n = 0;

            for (size_t i = 0; i < p->n; i++)
                if (is_inside(&g, &p->items[i]))
                    c->sorted[n++] = item_head_ns(&g, &p->items[i]);
            g.n_heads = sample_lines(c->sorted, n, g.head_ns);
            n = 0;
            for (size_t i = 0; i < p->n; i++)
                if (is_inside(&g, &p->items[i]))
                    c->sorted[n++] = item_tail_ns(c, &g, &p->items[i]);
            g.n_tails = sample_lines(c->sorted, n, g.tail_ns);
            for (int h = 0; h <= g.n_heads; h++)
                for (int t = 0; t <= g.n_tails; t++)
                    g.sum_ns[h][t] = 0;
            for (size_t i = 0; i < p->n; i++)
                if (is_inside(&g, &p->items[i]))
                    g.sum_ns[find_line(g.head_ns, g.n_heads,
                                       item_head_ns(&g, &p->items[i]))]
                            [find_line(g.tail_ns, g.n_tails,
                                       item_tail_ns(c, &g, &p->items[i]))] +=
                        p->items[i].ns;
            for (int h = g.n_heads - 1; h >= 0; h--)
                for (int t = g.n_tails - 1; t >= 0; t--)
                    g.sum_ns[h][t] += g.sum_ns[h + 1][t] + g.sum_ns[h][t + 1] -
                                      g.sum_ns[h + 1][t + 1];
            find_most_violated(c, &g, resource, &slack_ns, &worst);
        }
    if (worst.resource < 0)
        return MO_OK;
    ++*added;
    return mo_load_rows_add(c->f, c->rows, worst, c->err);
}

mo_status mo_load_separate_rows(const mo_load_problem *f,
                                const mo_load_lp_solution *solution,
                                double slack_ns, mo_load_rows *rows, int *added,
                                mo_error *err)
{
    int n = mo_load_n_resources(f);
    separator c = { .f = f, .solution = solution, .rows = rows, .err = err };

    *added = 0;
    c.lists = calloc((size_t) n, sizeof *c.lists);
    if (!c.lists)
        return mo_fail_memory(err);
    for (size_t i = 0; i < solution->n; i++) {
        c.times = solution->weight[i];
        if (c.times > 0)
            mo_load_pattern_for_each_use(f, &solution->patterns[i], add_use,
                                         &c);
    }
    for (int r = 0; r < n && c.status == MO_OK; r++)
        if (c.lists[r].n > 0)
            c.status = separate_resource(&c, r, slack_ns, added);
    for (int r = 0; r < n; r++)
        free(c.lists[r].items);
    free(c.lists);
    free(c.sorted);
    return c.status;
}
