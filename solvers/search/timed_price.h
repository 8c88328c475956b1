/*
 * timed_price.h - what it costs to hold a resource for some time, when
 * stretches of its time have prices.
 */
#ifndef MO_SEARCH_TIMED_PRICE_H
#define MO_SEARCH_TIMED_PRICE_H

#include "solvers/search/timed_case.h"

/* Cells of a resource: first, ..., last - 1. */
typedef struct mo_timed_interval {
    int resource, first, last;
} mo_timed_interval;

/* Price of all time up to each edge of a cell, and of each cell.  There is room
 * for one cell before the first and some behind the last, which cost nothing.
 */
typedef struct mo_timed_curve {
    double *sum, *slope;
} mo_timed_curve;

typedef struct mo_timed_prices {
    const mo_timed_case *c;
    mo_timed_curve *resources;
    mo_timed_curve *pairs; /* of devices: all that a transfer holds, added up;
                              a * K + b */
    double total;          /* of all time of all resources */
    double *store;
} mo_timed_prices;

mo_status mo_timed_prices_new(const mo_timed_case *c, mo_timed_prices **prices,
                              mo_error *err);
void mo_timed_prices_free(mo_timed_prices *prices);

/* All of interval i costs price[i], evenly. */
void mo_timed_prices_set(mo_timed_prices *prices,
                         const mo_timed_interval *intervals, int n,
                         const double *price);

/* The least that length ticks cost when they begin between from and to, and
 * where; to is at least from, and the end within the horizon. */
double mo_timed_cheapest(const mo_timed_case *c, const mo_timed_curve *curve,
                         int64_t length, int64_t from, int64_t to,
                         int64_t *start);

/*
 * The same for many beginnings at once.  Cell j of a row with an offset holds
 * the ticks from offset + (j - 1) * cell on, up to those of cell j + 1, as far
 * as they lie between from and to.  Fills least[j] for all cells between that
 * have some, and says which.  least has room for one more.
 */
typedef struct mo_timed_cells {
    int first, last; /* last is included */
} mo_timed_cells;

mo_timed_cells mo_timed_cheapest_row(const mo_timed_case *c,
                                     const mo_timed_curve *curve,
                                     int64_t length, int64_t offset,
                                     int64_t from, int64_t to, double *least);

/* The cell of a row that a tick lies in, and the first tick of a cell. */
static inline int mo_timed_cell_of(const mo_timed_case *c, int64_t offset,
                                   int64_t tick)
{
    return (int) mo_timed_floor(tick - offset, c->cell) + 1;
}

static inline int64_t mo_timed_cell_start(const mo_timed_case *c,
                                          int64_t offset, int cell)
{
    return offset + (cell - 1) * c->cell;
}

#endif
