/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dual_profile.h - time-indexed cost of resources under given dual values of
 * the master's rows, with prefix sums.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_DUAL_PROFILE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_DUAL_PROFILE_H

#include "solvers/search/bound/colgen/master_row.h"

/* Dual cost as a piecewise linear function of time: sum[g] is the cost of all
 * time up to the start of cell g, slope[g] the cost of cell g. Both are
 * buffers with room for one cell before the first and some behind the last, of
 * cost 0. */
typedef struct mo_cg_cost_curve {
    double *sum, *slope;
} mo_cg_cost_curve;

/* A release row with its dual value. */
typedef struct mo_cg_release_dual {
    mo_cg_row row;
    double price;
} mo_cg_release_dual;

typedef struct mo_cg_dual_profile {
    const mo_cg_problem *c;
    mo_cg_cost_curve *resources;
    mo_cg_cost_curve *pairs; /* by pair of devices a * K + b: sum over the
                                resources that a transfer from a to b holds */
    double *node_cost;       /* by node and device: duals of budget rows, for
                                every op of the node that runs there */
    mo_cg_release_dual *releases; /* of positive dual, sorted by tick */
    int n_releases, max_releases;
    double total; /* sum of the duals in use */
    double *store;
} mo_cg_dual_profile;

/* Allocates a profile for at most max_releases release rows; more are ignored,
 * which only weakens the bound. c is borrowed. The caller frees *profile. */
mo_status mo_cg_dual_profile_new(const mo_cg_problem *c, int max_releases,
                                 mo_cg_dual_profile **profile, mo_error *err);
void mo_cg_dual_profile_free(mo_cg_dual_profile *profile);

/* Sets the dual of row i to price[i], i < n. Rows of dual 0 cost nothing. */
void mo_cg_dual_profile_set(mo_cg_dual_profile *profile, const mo_cg_row *rows,
                            int n, const double *price);

/* Returns the minimal cost of `length` ticks that start between from and to,
 * and stores the start in *start. to is at least from, and to + length within
 * the horizon. */
double mo_cg_cheapest_start(const mo_cg_problem *c,
                            const mo_cg_cost_curve *curve, int64_t length,
                            int64_t from, int64_t to, int64_t *start);

/*
 * The same for all cells of a start grid. Cell j of a grid with an offset
 * contains the ticks from offset + (j - 1) * cell to the start of cell j + 1,
 * as far as they lie between from and to. Stores the minimal cost over the
 * starts in cell j in least[j] and returns the range of cells that have such
 * starts. The buffer least has one more entry than the last cell needs.
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
