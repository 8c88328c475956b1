/*
 * timed_price.h - what it costs to hold a resource for some time, when
 * goods have prices.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_DUAL_PROFILE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_DUAL_PROFILE_H

#include "solvers/search/bound/colgen/master_row.h"

/* Price of all time up to each edge of a cell, and of each cell.  There is room
 * for one cell before the first and some behind the last, which cost nothing.
 */
typedef struct mo_timed_curve {
    double *sum, *slope;
} mo_timed_curve;

/* A gate with its price. */
typedef struct mo_timed_toll {
    mo_timed_good good;
    double price;
} mo_timed_toll;

typedef struct mo_timed_prices {
    const mo_timed_case *c;
    mo_timed_curve *resources;
    mo_timed_curve *pairs; /* of devices: all that a transfer holds, added up;
                              a * K + b */
    double *extra; /* by node and device: of counts, each time it runs there */
    mo_timed_toll *gates; /* that cost something, by tick */
    int n_gates, max_gates;
    double total; /* of all goods */
    double *store;
} mo_timed_prices;

/* Up to max_gates gates. */
mo_status mo_timed_prices_new(const mo_timed_case *c, int max_gates,
                              mo_timed_prices **prices, mo_error *err);
void mo_timed_prices_free(mo_timed_prices *prices);

/* All of good i costs price[i]. */
void mo_timed_prices_set(mo_timed_prices *prices, const mo_timed_good *goods,
                         int n, const double *price);

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

#endif
