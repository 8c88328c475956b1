/* SPDX-License-Identifier: Apache-2.0 */
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
typedef struct mo_cg_cost_curve {
    double *sum, *slope;
} mo_cg_cost_curve;

/* A gate with its price. */
typedef struct mo_cg_release_dual {
    mo_cg_row good;
    double price;
} mo_cg_release_dual;

typedef struct mo_cg_dual_profile {
    const mo_cg_problem *c;
    mo_cg_cost_curve *resources;
    mo_cg_cost_curve *pairs; /* of devices: all that a transfer holds, added up;
                              a * K + b */
    double *extra; /* by node and device: of counts, each time it runs there */
    mo_cg_release_dual *gates; /* that cost something, by tick */
    int n_gates, max_gates;
    double total; /* of all goods */
    double *store;
} mo_cg_dual_profile;

/* Up to max_gates gates. */
mo_status mo_cg_dual_profile_new(const mo_cg_problem *c, int max_gates,
                                 mo_cg_dual_profile **prices, mo_error *err);
void mo_cg_dual_profile_free(mo_cg_dual_profile *prices);

/* All of good i costs price[i]. */
void mo_cg_dual_profile_set(mo_cg_dual_profile *prices, const mo_cg_row *goods,
                            int n, const double *price);

/* The least that length ticks cost when they begin between from and to, and
 * where; to is at least from, and the end within the horizon. */
double mo_cg_cheapest_start(const mo_cg_problem *c,
                            const mo_cg_cost_curve *curve, int64_t length,
                            int64_t from, int64_t to, int64_t *start);

/*
 * The same for many beginnings at once.  Cell j of a row with an offset holds
 * the ticks from offset + (j - 1) * cell on, up to those of cell j + 1, as far
 * as they lie between from and to.  Fills least[j] for all cells between that
 * have some, and says which.  least has room for one more.
 */
typedef struct mo_cg_cell_range {
    int first, last; /* last is included */
} mo_cg_cell_range;

mo_cg_cell_range mo_cg_cheapest_starts_by_cell(const mo_cg_problem *c,
                                               const mo_cg_cost_curve *curve,
                                               int64_t length, int64_t offset,
                                               int64_t from, int64_t to,
                                               double *least);

#endif
