/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/dual_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * What length ticks cost, by their beginning s, is at(s + length) - at(s): two
 * lines with corners where s or s + length meets the edge of a cell.  So the
 * least of some beginnings is at one of these, or at the first or last of them.
 */

enum { BEFORE = 1, BEHIND = 4 };

static size_t length_of(const mo_cg_problem *c)
{
    return (size_t) c->cells + BEFORE + BEHIND;
}

static void place(mo_cg_cost_curve *curves, int n, double **store,
                  size_t length)
{
    for (int i = 0; i < n; i++) {
        curves[i] =
            (mo_cg_cost_curve){ *store + BEFORE, *store + length + BEFORE };
        *store += 2 * length;
    }
}

static mo_status allocate(mo_cg_dual_profile *p, size_t pairs, mo_error *err)
{
    const mo_cg_problem *c = p->c;
    size_t n = (size_t) c->n_resources + pairs, size;
    size_t places = ((size_t) c->n_nodes + 1) * (size_t) c->n_devices;

    p->resources = calloc((size_t) c->n_resources + 1, sizeof *p->resources);
    p->pairs = calloc(pairs + 1, sizeof *p->pairs);
    p->extra = calloc(places, sizeof *p->extra);
    p->gates = calloc((size_t) p->max_gates + 1, sizeof *p->gates);
    if (mo_size_mul(2 * n, length_of(c), &size))
        p->store = calloc(size, sizeof *p->store);
    if (!p->resources || !p->pairs || !p->extra || !p->gates || !p->store)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_cg_dual_profile_new(const mo_cg_problem *c, int max_gates,
                                 mo_cg_dual_profile **prices, mo_error *err)
{
    int pairs = c->n_devices * c->n_devices;
    mo_cg_dual_profile *p = calloc(1, sizeof *p);
    double *store;
    mo_status status;

    if (!p)
        return mo_fail_memory(err);
    p->c = c;
    p->max_gates = max_gates;
    status = allocate(p, (size_t) pairs, err);
    if (status != MO_OK) {
        mo_cg_dual_profile_free(p);
        return status;
    }
    store = p->store;
    place(p->resources, c->n_resources, &store, length_of(c));
    place(p->pairs, pairs, &store, length_of(c));
    *prices = p;
    return MO_OK;
}

void mo_cg_dual_profile_free(mo_cg_dual_profile *p)
{
    if (!p)
        return;
    free(p->resources);
    free(p->pairs);
    free(p->extra);
    free(p->gates);
    free(p->store);
    free(p);
}

static void clear_slopes(const mo_cg_problem *c, mo_cg_cost_curve *curve)
{
    memset(curve->slope - BEFORE, 0, length_of(c) * sizeof *curve->slope);
}

static void add_up(const mo_cg_problem *c, mo_cg_cost_curve *curve)
{
    double sum = 0;

    for (int g = 0; g < c->cells + BEHIND; g++) {
        curve->sum[g] = sum;
        sum += curve->slope[g];
    }
}

static void set_pair(mo_cg_dual_profile *p, int pair)
{
    const mo_cg_problem *c = p->c;
    mo_cg_cost_curve *curve = &p->pairs[pair];

    clear_slopes(c, curve);
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++) {
        const double *slope = p->resources[c->pair_resource[i]].slope;

        for (int g = 0; g < c->cells; g++)
            curve->slope[g] += slope[g];
    }
    add_up(c, curve);
}

static void add_stretch(mo_cg_dual_profile *p, const mo_cg_row *good,
                        double price)
{
    double *slope = p->resources[good->resource].slope;
    double each = price / (good->last - good->first);

    for (int g = good->first; g < good->last; g++)
        slope[g] += each;
}

/* Into its place by tick. */
static void add_gate(mo_cg_dual_profile *p, const mo_cg_row *good, double price)
{
    int at = p->n_gates;

    if (at == p->max_gates)
        return;
    for (; at > 0 && p->gates[at - 1].good.tick > good->tick; at--)
        p->gates[at] = p->gates[at - 1];
    p->gates[at] = (mo_cg_release_dual){ *good, price };
    p->n_gates++;
    p->total += price;
}

static void add_count(mo_cg_dual_profile *p, const mo_cg_row *good,
                      double price)
{
    for (int k = 0; k < p->c->n_devices; k++)
        p->extra[mo_cg_tree_node_device(p->c, good->node, k)] +=
            price * mo_cg_row_cardinality_coefficient(good, k);
    p->total += price;
}

static void add_good(mo_cg_dual_profile *p, const mo_cg_row *good, double price)
{
    switch (good->kind) {
    case MO_CG_CAPACITY:
        add_stretch(p, good, price);
        break;
    case MO_CG_RELEASE:
        add_gate(p, good, price);
        break;
    case MO_CG_CARDINALITY:
        add_count(p, good, price);
        break;
    }
}

static void clear(mo_cg_dual_profile *p)
{
    const mo_cg_problem *c = p->c;

    for (int r = 0; r < c->n_resources; r++)
        clear_slopes(c, &p->resources[r]);
    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        p->extra[at] = 0;
    p->n_gates = 0;
    p->total = 0;
}

void mo_cg_dual_profile_set(mo_cg_dual_profile *p, const mo_cg_row *goods,
                            int n, const double *price)
{
    const mo_cg_problem *c = p->c;

    clear(p);
    for (int i = 0; i < n; i++)
        if (price[i] > 0)
            add_good(p, &goods[i], price[i]);
    for (int r = 0; r < c->n_resources; r++) {
        add_up(c, &p->resources[r]);
        p->total += p->resources[r].sum[c->cells];
    }
    for (int pair = 0; pair < c->n_devices * c->n_devices; pair++)
        set_pair(p, pair);
}

static double price_at(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                       int64_t tick)
{
    int64_t g = tick / c->cell;

    return curve->sum[g] +
           curve->slope[g] * ((double) (tick % c->cell) / (double) c->cell);
}

/* Takes a beginning when it is cheaper than what is known. */
static void consider(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                     int64_t length, int64_t s, double *least, int64_t *start)
{
    double price = price_at(c, curve, s + length) - price_at(c, curve, s);

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
    consider(c, curve, length, from, &least, start);
    for (int64_t s = edge; s <= to; s += c->cell)
        consider(c, curve, length, s, &least, start);
    for (int64_t s = end_edge; s <= to; s += c->cell)
        consider(c, curve, length, s, &least, start);
    consider(c, curve, length, to, &least, start);
    return least;
}

/* A place on the curve: some cells from the first edge, and part of a cell. */
typedef struct spot {
    const double *sum, *slope;
    double part;
} spot;

static spot spot_at(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                    int64_t tick)
{
    int64_t g = mo_cg_floor_div(tick, c->cell);

    return (spot){ curve->sum + g, curve->slope + g,
                   (double) (tick - g * c->cell) / (double) c->cell };
}

/* least[j] = what it costs from start + j * cell on, or less. */
static void lower_row(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                      int64_t length, int64_t start, mo_cg_cell_range cells,
                      double *least)
{
    spot begin = spot_at(c, curve, start);
    spot end = spot_at(c, curve, start + length);

    for (int j = cells.first; j <= cells.last; j++) {
        double price = end.sum[j] + end.part * end.slope[j] - begin.sum[j] -
                       begin.part * begin.slope[j];

        least[j] = price < least[j] ? price : least[j];
    }
}

/* Cells that lie between from and to as a whole. */
static void fill_inner(const mo_cg_problem *c, const mo_cg_cost_curve *curve,
                       int64_t length, int64_t offset, mo_cg_cell_range cells,
                       double *least)
{
    int64_t first = offset - c->cell; /* the first tick of cell 0 */
    int64_t end_part = (offset + length) % c->cell;

    for (int j = cells.first; j <= cells.last + 1; j++)
        least[j] = INFINITY;
    cells.last++;
    lower_row(c, curve, length, first, cells, least);
    cells.last--;
    for (int j = cells.first; j <= cells.last; j++)
        least[j] = least[j + 1] < least[j] ? least[j + 1] : least[j];
    if (offset > 0)
        lower_row(c, curve, length, 0, cells, least);
    if (end_part > 0)
        lower_row(c, curve, length, first + c->cell - end_part, cells, least);
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
        fill_inner(c, curve, length, offset, inner, least);
    least[all.first] = mo_cg_cheapest_start(
        c, curve, length, from, first_end < to ? first_end : to, &start);
    if (all.last > all.first)
        least[all.last] =
            mo_cg_cheapest_start(c, curve, length, last_start, to, &start);
    return all;
}
