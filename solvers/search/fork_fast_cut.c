#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/fork_fast_parts.h"

/*
 * For each resource, what the mix puts there is laid on a grid by heads and
 * tails, and the sums of all quarters
 *
 *     heads   |   . # #          what is right of a head
 *             |   . # #          and above a tail
 *             +--------- tails
 *
 * tell which row would hurt most.
 */

enum { MAX_LINES = 24 }; /* of the grid, each way */

typedef struct share {
    int64_t head_ns, tail_ns;
    double ns;
} share;

typedef struct pile {
    share *shares;
    size_t n, room;
} pile;

typedef struct cutter {
    const mo_fast *f;
    pile *piles; /* by resource */
    double times;
    mo_status status;
    mo_error *err;
    int64_t *sorted;
    size_t sorted_room;
} cutter;

static void put(cutter *c, int resource, const mo_fast_item *item)
{
    pile *p = &c->piles[resource];

    if (c->status == MO_OK)
        c->status = MO_PUSH(p->shares, p->n, p->room, c->err);
    if (c->status == MO_OK)
        p->shares[p->n++] = (share){ item->head_ns, item->tail_ns,
                                     c->times * (double) item->ns };
}

static void put_used(void *context, const mo_fast_used *used)
{
    cutter *c = context;
    int pair[2], n;
    const int *ids;

    if (used->item.ns == 0)
        return;
    if (used->from < 0) {
        put(c, used->to, &used->item);
        return;
    }
    n = mo_resource_list(c->f->x, c->f->congestion, used->from, used->to, pair,
                         &ids);
    for (int i = 0; i < n; i++)
        put(c, c->f->n_devices + ids[i], &used->item);
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
    int n_heads, n_tails;
    int64_t head_ns[MAX_LINES], tail_ns[MAX_LINES];
    double sum_ns[MAX_LINES + 1][MAX_LINES + 1];
} grid;

/* The last line that is not above the value. */
static int line_of(const int64_t *lines, int n, int64_t value)
{
    int at = 0;

    while (at + 1 < n && lines[at + 1] <= value)
        at++;
    return at;
}

static mo_status lay_grid(cutter *c, const pile *p, grid *g)
{
    if (p->n > c->sorted_room) {
        mo_status status =
            mo_array_reserve((void **) &c->sorted, &c->sorted_room, p->n,
                             sizeof *c->sorted, c->err);
        if (status != MO_OK)
            return status;
    }
    *g = (grid){ 0 };
    for (size_t i = 0; i < p->n; i++)
        c->sorted[i] = p->shares[i].head_ns;
    g->n_heads = thin_out(c->sorted, p->n, g->head_ns);
    for (size_t i = 0; i < p->n; i++)
        c->sorted[i] = p->shares[i].tail_ns;
    g->n_tails = thin_out(c->sorted, p->n, g->tail_ns);
    for (size_t i = 0; i < p->n; i++)
        g->sum_ns[line_of(g->head_ns, g->n_heads, p->shares[i].head_ns)]
                 [line_of(g->tail_ns, g->n_tails, p->shares[i].tail_ns)] +=
            p->shares[i].ns;
    for (int h = g->n_heads - 1; h >= 0; h--)
        for (int t = g->n_tails - 1; t >= 0; t--)
            g->sum_ns[h][t] += g->sum_ns[h + 1][t] + g->sum_ns[h][t + 1] -
                               g->sum_ns[h + 1][t + 1];
    return MO_OK;
}

static bool has_row(const mo_fast_rows *rows, int resource, int64_t head_ns,
                    int64_t tail_ns)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].resource == resource && rows->rows[i].late < 0 &&
            rows->rows[i].head_ns == head_ns &&
            rows->rows[i].tail_ns == tail_ns)
            return true;
    return false;
}

/* Adds the row of the resource that is broken most, if any is. */
static mo_status cut_resource(cutter *c, int resource, double value_ns,
                              mo_fast_rows *rows, int *added)
{
    grid g;
    int best_h = -1, best_t = -1;
    mo_status status = lay_grid(c, &c->piles[resource], &g);

    if (status != MO_OK)
        return status;
    for (int h = 0; h < g.n_heads; h++)
        for (int t = 0; t < g.n_tails; t++) {
            double ns = g.sum_ns[h][t] +
                        (double) mo_fast_base_ns(c->f, resource, g.head_ns[h],
                                                 g.tail_ns[t]);
            if (ns > value_ns &&
                !has_row(rows, resource, g.head_ns[h], g.tail_ns[t])) {
                value_ns = ns;
                best_h = h;
                best_t = t;
            }
        }
    if (best_h < 0)
        return MO_OK;
    ++*added;
    return mo_fast_rows_add(c->f, rows, resource, g.head_ns[best_h],
                            g.tail_ns[best_t], c->err);
}

mo_status mo_fast_cut(const mo_fast *f, const mo_fast_mix *mix, double value_ns,
                      mo_fast_rows *rows, int *added, mo_error *err)
{
    int n = mo_fast_n_resources(f);
    cutter c = { .f = f, .status = MO_OK, .err = err };

    *added = 0;
    c.piles = calloc((size_t) n, sizeof *c.piles);
    if (!c.piles)
        return mo_fail_memory(err);
    for (size_t i = 0; i < mix->n; i++) {
        c.times = mix->share[i];
        if (c.times > 0)
            mo_fast_tell(f, &mix->patterns[i], put_used, &c);
    }
    for (int r = 0; r < n && c.status == MO_OK; r++)
        if (c.piles[r].n > 0)
            c.status = cut_resource(&c, r, value_ns, rows, added);
    for (int r = 0; r < n; r++)
        free(c.piles[r].shares);
    free(c.piles);
    free(c.sorted);
    return c.status;
}
