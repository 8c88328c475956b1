/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/dual_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * The cost of length ticks as a function of their start s is at(s + length) -
 * at(s): the difference of two piecewise linear functions, with breakpoints
 * where s or s + length meets the edge of a cell. So its minimum over an
 * interval of starts is at a breakpoint or at an end of the interval.
 */

enum { CELLS_BEFORE = 1, CELLS_BEHIND = 4 };

static size_t curve_length(const mo_cg_problem *c)
{
    return (size_t) c->cells + CELLS_BEFORE + CELLS_BEHIND;
}

static void attach_curves(mo_cg_cost_curve *curves, int n, double **store,
                          size_t length)
{
    for (int i = 0; i < n; i++) {
        curves[i] = (mo_cg_cost_curve){ *store + CELLS_BEFORE,
                                        *store + length + CELLS_BEFORE };
        *store += 2 * length;
    }
}

static mo_status allocate_profile(mo_cg_dual_profile *p, size_t pairs,
                                  mo_error *err)
{
    const mo_cg_problem *c = p->c;
    size_t n = (size_t) c->n_resources + pairs, size;
    size_t places = ((size_t) c->n_nodes + 1) * (size_t) c->n_devices;

    p->resources = calloc((size_t) c->n_resources + 1, sizeof *p->resources);
    p->pairs = calloc(pairs + 1, sizeof *p->pairs);
    p->node_cost = calloc(places, sizeof *p->node_cost);
    p->releases = calloc((size_t) p->max_releases + 1, sizeof *p->releases);
    if (mo_size_mul(2 * n, curve_length(c), &size))
        p->store = calloc(size, sizeof *p->store);
    if (!p->resources || !p->pairs || !p->node_cost || !p->releases ||
        !p->store)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_cg_dual_profile_new(const mo_cg_problem *c, int max_releases,
                                 mo_cg_dual_profile **prices, mo_error *err)
{
    int pairs = c->n_devices * c->n_devices;
    mo_cg_dual_profile *p = calloc(1, sizeof *p);
    double *store;
    mo_status status;

    if (!p)
        return mo_fail_memory(err);
    p->c = c;
    p->max_releases = max_releases;
    status = allocate_profile(p, (size_t) pairs, err);
    if (status != MO_OK) {
        mo_cg_dual_profile_free(p);
        return status;
    }
    store = p->store;
    attach_curves(p->resources, c->n_resources, &store, curve_length(c));
    attach_curves(p->pairs, pairs, &store, curve_length(c));
    *prices = p;
    return MO_OK;
}

void mo_cg_dual_profile_free(mo_cg_dual_profile *p)
{
    if (!p)
        return;
    free(p->resources);
    free(p->pairs);
    free(p->node_cost);
    free(p->releases);
    free(p->store);
    free(p);
}

static void clear_slopes(const mo_cg_problem *c, mo_cg_cost_curve *curve)
{
    memset(curve->slope - CELLS_BEFORE, 0,
           curve_length(c) * sizeof *curve->slope);
}

static void sum_prefixes(const mo_cg_problem *c, mo_cg_cost_curve *curve)
{
    double sum = 0;

    for (int g = 0; g < c->cells + CELLS_BEHIND; g++) {
        curve->sum[g] = sum;
        sum += curve->slope[g];
    }
}

/* per_ns: the dual of each ns of the sum.  The prefix sums add what the cells
 * cost to the total. */
static void add_sum_dual(mo_cg_dual_profile *p, const mo_cg_row *row,
                         double per_ns)
{
    const mo_cg_problem *c = p->c;
    double *slope = p->resources[row->resource].slope;
    double cell_cost = per_ns * ((double) c->cell / c->cells);

    for (int g = row->first; g < row->last; g++)
        slope[g] += cell_cost;
    p->total -= cell_cost * (row->last - row->first);
    for (int i = 0; i < c->n_nodes * c->n_devices; i++)
        p->node_cost[i] += per_ns * c->budget_ns * c->budget_part[i];
}

static void add_row_dual(mo_cg_dual_profile *p, const mo_cg_row *row,
                         double price)
{
    double *slope = p->resources[row->resource].slope;
    int at = p->n_releases;

    switch (row->kind) {
    case MO_CG_CAPACITY:
        for (int g = row->first; g < row->last; g++)
            slope[g] += price / (row->last - row->first);
        return;         /* the prefix sums give its part of the total */
    case MO_CG_RELEASE: /* inserted in order of ticks */
        if (at == p->max_releases)
            return;
        for (; at > 0 && p->releases[at - 1].row.tick > row->tick; at--)
            p->releases[at] = p->releases[at - 1];
        p->releases[at] = (mo_cg_release_dual){ *row, price };
        p->n_releases++;
        break;
    case MO_CG_BUDGET:
        for (int i = 0; i < p->c->n_nodes * p->c->n_devices; i++)
            p->node_cost[i] += price * p->c->budget_part[i];
        break;
    case MO_CG_SUM:
        add_sum_dual(p, row, price / mo_cg_row_sum_ns(p->c, row->first));
        break;
    }
    p->total += price;
}

void mo_cg_dual_profile_set(mo_cg_dual_profile *p, const mo_cg_row *rows, int n,
                            const double *price)
{
    const mo_cg_problem *c = p->c;

    for (int r = 0; r < c->n_resources; r++)
        clear_slopes(c, &p->resources[r]);
    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        p->node_cost[at] = 0;
    p->n_releases = 0;
    p->total = 0;
    for (int i = 0; i < n; i++)
        if (price[i] > 0)
            add_row_dual(p, &rows[i], price[i]);
    for (int r = 0; r < c->n_resources; r++) {
        sum_prefixes(c, &p->resources[r]);
        p->total += p->resources[r].sum[c->cells];
    }
    for (int pair = 0; pair < c->n_devices * c->n_devices; pair++) {
        mo_cg_cost_curve *curve = &p->pairs[pair];

        clear_slopes(c, curve);
        for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++) {
            const double *slope = p->resources[c->pair_resource[i]].slope;

            for (int g = 0; g < c->cells; g++)
                curve->slope[g] += slope[g];
        }
        sum_prefixes(c, curve);
    }
}

static double cost_until(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                         int64_t tick)
{
    int64_t g = tick / c->cell;

    return curve->sum[g] +
           curve->slope[g] * ((double) (tick % c->cell) / (double) c->cell);
}

/* Keeps a start if it is cheaper than the best so far. */
static void try_start(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                      int64_t length, int64_t s, double *least, int64_t *start)
{
    double price = cost_until(c, curve, s + length) - cost_until(c, curve, s);

    if (price < *least) {
        *least = price;
        *start = s;
    }
}

double mo_cg_cheapest_start(const mo_cg_problem *c,
                            const mo_cg_cost_curve *curve, int64_t length,
                            int64_t from, int64_t to, int64_t *start)
{
    int64_t edge = -mo_cg_floor_div(-from, c->cell) * c->cell;
    int64_t end_edge =
        -mo_cg_floor_div(-from - length, c->cell) * c->cell - length;
    double least = INFINITY;

    *start = from;
    try_start(c, curve, length, from, &least, start);
    for (int64_t s = edge; s <= to; s += c->cell)
        try_start(c, curve, length, s, &least, start);
    for (int64_t s = end_edge; s <= to; s += c->cell)
        try_start(c, curve, length, s, &least, start);
    try_start(c, curve, length, to, &least, start);
    return least;
}

/* A point of the curve: pointers to its cell, and the part of the cell. */
typedef struct curve_point {
    const double *sum, *slope;
    double part;
} curve_point;

static curve_point curve_point_at(const mo_cg_problem *c,
                                  const mo_cg_cost_curve *curve, int64_t tick)
{
    int64_t g = mo_cg_floor_div(tick, c->cell);

    return (curve_point){ curve->sum + g, curve->slope + g,
                          (double) (tick - g * c->cell) / (double) c->cell };
}

/* least[j] = min(least[j], cost of a start at start + j * cell) */
static void lower_costs(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                        int64_t length, int64_t start, mo_cg_cell_range cells,
                        double *least)
{
    curve_point begin = curve_point_at(c, curve, start);
    curve_point end = curve_point_at(c, curve, start + length);

    for (int j = cells.first; j <= cells.last; j++) {
        double price = end.sum[j] + end.part * end.slope[j] - begin.sum[j] -
                       begin.part * begin.slope[j];

        least[j] = price < least[j] ? price : least[j];
    }
}

/* Cells that lie between from and to as a whole. */
static void fill_inner_cells(const mo_cg_problem *c,
                             const mo_cg_cost_curve *curve, int64_t length,
                             int64_t offset, mo_cg_cell_range cells,
                             double *least)
{
    int64_t first = offset - c->cell; /* the first tick of cell 0 */
    int64_t end_part = (offset + length) % c->cell;

    for (int j = cells.first; j <= cells.last + 1; j++)
        least[j] = INFINITY;
    cells.last++;
    lower_costs(c, curve, length, first, cells, least);
    cells.last--;
    for (int j = cells.first; j <= cells.last; j++)
        least[j] = least[j + 1] < least[j] ? least[j + 1] : least[j];
    if (offset > 0)
        lower_costs(c, curve, length, 0, cells, least);
    if (end_part > 0)
        lower_costs(c, curve, length, first + c->cell - end_part, cells, least);
}

mo_cg_cell_range mo_cg_cheapest_starts_by_cell(const mo_cg_problem *c,
                                               const mo_cg_cost_curve *curve,
                                               int64_t length, int64_t offset,
                                               int64_t from, int64_t to,
                                               double *least)
{
    mo_cg_cell_range all = { mo_cg_cell_of_tick(c, offset, from),
                             mo_cg_cell_of_tick(c, offset, to) };
    mo_cg_cell_range inner = { all.first + 1, all.last - 1 };
    int64_t first_end = mo_cg_cell_start(c, offset, all.first + 1) - 1;
    int64_t last_start = mo_cg_cell_start(c, offset, all.last), start;

    if (inner.first <= inner.last)
        fill_inner_cells(c, curve, length, offset, inner, least);
    least[all.first] = mo_cg_cheapest_start(
        c, curve, length, from, first_end < to ? first_end : to, &start);
    if (all.last > all.first)
        least[all.last] =
            mo_cg_cheapest_start(c, curve, length, last_start, to, &start);
    return all;
}
