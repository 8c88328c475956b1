/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

/*
 * For each resource and each two moments, what the mix puts there is laid on a
 * grid by heads and tails, and the sums of all quarters
 *
 *     heads   |   . # #          what is right of a tail
 *             |   . # #          and above a head
 *             +--------- tails
 *
 * tell which row would hurt most.
 */

enum { MAX_LINES = 24 }; /* of the grid, each way */

typedef struct share {
    int begin, end;
    int64_t head_ns, tail_ns;
    double ns;
} share;

typedef struct pile {
    share *shares;
    size_t n, room;
} pile;

typedef struct cutter {
    const mo_load_problem *f;
    const mo_load_lp_solution *mix;
    mo_load_rows *rows;
    pile *piles;     /* by resource */
    double times;    /* the pattern that is told of is followed */
    int64_t *sorted; /* by place in a pile */
    size_t room;
    mo_status status; /* of what could not be put on a pile */
    mo_error *err;
} cutter;

static void put(cutter *c, int resource, const mo_load_use *used)
{
    pile *p = &c->piles[resource];

    if (c->status == MO_OK)
        c->status = MO_ARRAY_GROW(p->shares, p->n, p->room, c->err);
    if (c->status == MO_OK)
        p->shares[p->n++] =
            (share){ used->begin, used->end, used->item.head_ns,
                     used->item.tail_ns, c->times * (double) used->item.ns };
}

static void put_used(void *context, const mo_load_use *used)
{
    cutter *c = context;
    int pair[2], n;
    const int *ids;

    if (used->from < 0) {
        put(c, used->to, used);
        return;
    }
    n = mo_resource_list(c->f->x, c->f->congestion, used->from, used->to, pair,
                         &ids);
    for (int i = 0; i < n; i++)
        put(c, c->f->n_devices + ids[i], used);
}

static int compare_ns(const void *a, const void *b)
{
    int64_t s = *(const int64_t *) a, t = *(const int64_t *) b;

    return (s > t) - (s < t);
}

/* Sorts, takes doubles out, and leaves the first and some of the others. */
static int thin_out(int64_t *values, size_t n, int64_t *lines)
{
    size_t different = 0;
    int n_lines = 0;

    qsort(values, n, sizeof *values, compare_ns);
    for (size_t i = 0; i < n; i++)
        if (different == 0 || values[i] != values[different - 1])
            values[different++] = values[i];
    for (size_t i = 0; i < different; i++)
        if (i * MAX_LINES / different >= (size_t) n_lines)
            lines[n_lines++] = values[i];
    return n_lines;
}

typedef struct grid {
    int from, until; /* moments */
    int n_heads, n_tails;
    int64_t head_ns[MAX_LINES], tail_ns[MAX_LINES];
    double sum_ns[MAX_LINES + 1][MAX_LINES + 1];
} grid;

static bool is_within(const grid *g, const share *s)
{
    return s->begin >= g->from && s->end < g->until;
}

/* Heads count from T0 and tails to J only. */
static int64_t head_of(const grid *g, const share *s)
{
    return g->from == 0 ? s->head_ns : 0;
}

static int64_t tail_of(const cutter *c, const grid *g, const share *s)
{
    return g->until == mo_load_last_event(c->f) ? s->tail_ns : 0;
}

static void find_lines(cutter *c, const pile *p, grid *g)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (is_within(g, &p->shares[i]))
            c->sorted[n++] = head_of(g, &p->shares[i]);
    g->n_heads = thin_out(c->sorted, n, g->head_ns);
    n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (is_within(g, &p->shares[i]))
            c->sorted[n++] = tail_of(c, g, &p->shares[i]);
    g->n_tails = thin_out(c->sorted, n, g->tail_ns);
}

/* The last line that is not above the value. */
static int line_of(const int64_t *lines, int n, int64_t value)
{
    int at = 0;

    while (at + 1 < n && lines[at + 1] <= value)
        at++;
    return at;
}

static void lay_grid(cutter *c, const pile *p, grid *g)
{
    find_lines(c, p, g);
    for (int h = 0; h <= g->n_heads; h++)
        for (int t = 0; t <= g->n_tails; t++)
            g->sum_ns[h][t] = 0;
    for (size_t i = 0; i < p->n; i++)
        if (is_within(g, &p->shares[i]))
            g->sum_ns[line_of(g->head_ns, g->n_heads,
                              head_of(g, &p->shares[i]))]
                     [line_of(g->tail_ns, g->n_tails,
                              tail_of(c, g, &p->shares[i]))] += p->shares[i].ns;
    for (int h = g->n_heads - 1; h >= 0; h--)
        for (int t = g->n_tails - 1; t >= 0; t--)
            g->sum_ns[h][t] += g->sum_ns[h + 1][t] + g->sum_ns[h][t + 1] -
                               g->sum_ns[h + 1][t + 1];
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

/* Makes *worst the row of the grid that is broken by more than *excess_ns, if
 * there is any. */
static void find_worst(const cutter *c, const grid *g, int resource,
                       double *excess_ns, mo_load_row *worst)
{
    double given_ns = c->mix->moment_ns[g->until] - c->mix->moment_ns[g->from];

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

/* Adds the row of the resource that is broken most, if any is. */
static mo_status cut_resource(cutter *c, int resource, double slack_ns,
                              int *added)
{
    const pile *p = &c->piles[resource];
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
            lay_grid(c, p, &g);
            find_worst(c, &g, resource, &slack_ns, &worst);
        }
    if (worst.resource < 0)
        return MO_OK;
    ++*added;
    return mo_load_rows_add(c->f, c->rows, worst, c->err);
}

mo_status mo_load_separate_rows(const mo_load_problem *f,
                                const mo_load_lp_solution *mix, double slack_ns,
                                mo_load_rows *rows, int *added, mo_error *err)
{
    int n = mo_load_n_resources(f);
    cutter c = { .f = f, .mix = mix, .rows = rows, .err = err };

    *added = 0;
    c.piles = calloc((size_t) n, sizeof *c.piles);
    if (!c.piles)
        return mo_fail_memory(err);
    for (size_t i = 0; i < mix->n; i++) {
        c.times = mix->share[i];
        if (c.times > 0)
            mo_load_pattern_for_each_use(f, &mix->patterns[i], put_used, &c);
    }
    for (int r = 0; r < n && c.status == MO_OK; r++)
        if (c.piles[r].n > 0)
            c.status = cut_resource(&c, r, slack_ns, added);
    for (int r = 0; r < n; r++)
        free(c.piles[r].shares);
    free(c.piles);
    free(c.sorted);
    return c.status;
}
