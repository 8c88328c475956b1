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

static size_t length_of(const mo_timed_case *c)
{
    return (size_t) c->cells + BEFORE + BEHIND;
}

static void place(mo_timed_curve *curves, int n, double **store, size_t length)
{
    for (int i = 0; i < n; i++) {
        curves[i] =
            (mo_timed_curve){ *store + BEFORE, *store + length + BEFORE };
        *store += 2 * length;
    }
}

static mo_status allocate(mo_timed_prices *p, size_t pairs, mo_error *err)
{
    const mo_timed_case *c = p->c;
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

mo_status mo_timed_prices_new(const mo_timed_case *c, int max_gates,
                              mo_timed_prices **prices, mo_error *err)
{
    int pairs = c->n_devices * c->n_devices;
    mo_timed_prices *p = calloc(1, sizeof *p);
    double *store;
    mo_status status;

    if (!p)
        return mo_fail_memory(err);
    p->c = c;
    p->max_gates = max_gates;
    status = allocate(p, (size_t) pairs, err);
    if (status != MO_OK) {
        mo_timed_prices_free(p);
        return status;
    }
    store = p->store;
    place(p->resources, c->n_resources, &store, length_of(c));
    place(p->pairs, pairs, &store, length_of(c));
    *prices = p;
    return MO_OK;
}

void mo_timed_prices_free(mo_timed_prices *p)
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

static void clear_slopes(const mo_timed_case *c, mo_timed_curve *curve)
{
    memset(curve->slope - BEFORE, 0, length_of(c) * sizeof *curve->slope);
}

static void add_up(const mo_timed_case *c, mo_timed_curve *curve)
{
    double sum = 0;

    for (int g = 0; g < c->cells + BEHIND; g++) {
        curve->sum[g] = sum;
        sum += curve->slope[g];
    }
}

static void set_pair(mo_timed_prices *p, int pair)
{
    const mo_timed_case *c = p->c;
    mo_timed_curve *curve = &p->pairs[pair];

    clear_slopes(c, curve);
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++) {
        const double *slope = p->resources[c->pair_resource[i]].slope;

        for (int g = 0; g < c->cells; g++)
            curve->slope[g] += slope[g];
    }
    add_up(c, curve);
}

static void add_stretch(mo_timed_prices *p, const mo_timed_good *good,
                        double price)
{
    double *slope = p->resources[good->resource].slope;
    double each = price / (good->last - good->first);

    for (int g = good->first; g < good->last; g++)
        slope[g] += each;
}

/* Into its place by tick. */
static void add_gate(mo_timed_prices *p, const mo_timed_good *good,
                     double price)
{
    int at = p->n_gates;

    if (at == p->max_gates)
        return;
    for (; at > 0 && p->gates[at - 1].good.tick > good->tick; at--)
        p->gates[at] = p->gates[at - 1];
    p->gates[at] = (mo_timed_toll){ *good, price };
    p->n_gates++;
    p->total += price;
}

static void add_count(mo_timed_prices *p, const mo_timed_good *good,
                      double price)
{
    for (int k = 0; k < p->c->n_devices; k++)
        p->extra[mo_timed_at(p->c, good->node, k)] +=
            price * mo_timed_good_count_part(good, k);
    p->total += price;
}

static void add_good(mo_timed_prices *p, const mo_timed_good *good,
                     double price)
{
    switch (good->kind) {
    case MO_TIMED_STRETCH:
        add_stretch(p, good, price);
        break;
    case MO_TIMED_GATE:
        add_gate(p, good, price);
        break;
    case MO_TIMED_COUNT:
        add_count(p, good, price);
        break;
    }
}

static void clear(mo_timed_prices *p)
{
    const mo_timed_case *c = p->c;

    for (int r = 0; r < c->n_resources; r++)
        clear_slopes(c, &p->resources[r]);
    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        p->extra[at] = 0;
    p->n_gates = 0;
    p->total = 0;
}

void mo_timed_prices_set(mo_timed_prices *p, const mo_timed_good *goods, int n,
                         const double *price)
{
    const mo_timed_case *c = p->c;

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

static double price_at(const mo_timed_case *c, const mo_timed_curve *curve,
                       int64_t tick)
{
    int64_t g = tick / c->cell;

    return curve->sum[g] +
           curve->slope[g] * ((double) (tick % c->cell) / (double) c->cell);
}

/* Takes a beginning when it is cheaper than what is known. */
static void consider(const mo_timed_case *c, const mo_timed_curve *curve,
                     int64_t length, int64_t s, double *least, int64_t *start)
{
    double price = price_at(c, curve, s + length) - price_at(c, curve, s);

    if (price < *least) {
        *least = price;
        *start = s;
    }
}

double mo_timed_cheapest(const mo_timed_case *c, const mo_timed_curve *curve,
                         int64_t length, int64_t from, int64_t to,
                         int64_t *start)
{
    int64_t edge = -mo_timed_floor(-from, c->cell) * c->cell;
    int64_t end_edge =
        -mo_timed_floor(-from - length, c->cell) * c->cell - length;
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

static spot spot_at(const mo_timed_case *c, const mo_timed_curve *curve,
                    int64_t tick)
{
    int64_t g = mo_timed_floor(tick, c->cell);

    return (spot){ curve->sum + g, curve->slope + g,
                   (double) (tick - g * c->cell) / (double) c->cell };
}

/* least[j] = what it costs from start + j * cell on, or less. */
static void lower_row(const mo_timed_case *c, const mo_timed_curve *curve,
                      int64_t length, int64_t start, mo_timed_cells cells,
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
static void fill_inner(const mo_timed_case *c, const mo_timed_curve *curve,
                       int64_t length, int64_t offset, mo_timed_cells cells,
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

mo_timed_cells mo_timed_cheapest_row(const mo_timed_case *c,
                                     const mo_timed_curve *curve,
                                     int64_t length, int64_t offset,
                                     int64_t from, int64_t to, double *least)
{
    mo_timed_cells all = { mo_timed_cell_of(c, offset, from),
                           mo_timed_cell_of(c, offset, to) };
    mo_timed_cells inner = { all.first + 1, all.last - 1 };
    int64_t first_end = mo_timed_cell_start(c, offset, all.first + 1) - 1;
    int64_t last_start = mo_timed_cell_start(c, offset, all.last), start;

    if (inner.first <= inner.last)
        fill_inner(c, curve, length, offset, inner, least);
    least[all.first] = mo_timed_cheapest(
        c, curve, length, from, first_end < to ? first_end : to, &start);
    if (all.last > all.first)
        least[all.last] =
            mo_timed_cheapest(c, curve, length, last_start, to, &start);
    return all;
}
