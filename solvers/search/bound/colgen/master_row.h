/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master_row.h - rows of the restricted master problem, and their separation.
 *
 * Columns are timed placements of one branch (Dantzig-Wolfe decomposition by
 * branches). A row limits the usage of all chosen columns together to 1: the
 * capacity of a resource over an interval, or the release time of the broadcast
 * tensor on a device. Rows are generated when the LP solution violates them;
 * their dual values are what pricing charges.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_ROW_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_ROW_H

#include "solvers/search/bound/colgen/column_pool.h"

typedef enum mo_cg_row_kind {
    /* Capacity of a resource over the cells first, ..., last - 1: jobs use the
     * part of the interval that they hold. */
    MO_CG_CAPACITY,
    /* Release: either the broadcast tensor arrives at a device before a tick,
     * or no op reads it there before. Used by an arrival at the tick or later
     * or never, and by the equals of a reading node that start before, in
     * equal parts. */
    MO_CG_RELEASE,
    /* Knapsack row: at the prices of memory, the resident bytes of all
     * branches cost at most the budget (mo_cg_budget). */
    MO_CG_BUDGET,
    /* Sum of price and time: what a resource carries from the begin of a cell
     * on, at which the last op has not ended, is no longer than the time from
     * there; with that begin and the price it is at most sum_ns of the budget.
     * Holds for any time in an interval, not only for the horizon. */
    MO_CG_SUM
} mo_cg_row_kind;

typedef struct mo_cg_row {
    mo_cg_row_kind kind;
    int resource, first, last; /* of a capacity row and of a sum */
    int node, device;          /* of a release row */
    int64_t tick;              /* of a release row */
} mo_cg_row;

/* Return a row of each kind; its other members are 0. */
mo_cg_row mo_cg_row_capacity(int resource, int first, int last);
mo_cg_row mo_cg_row_budget(void);
mo_cg_row mo_cg_row_sum(const mo_cg_problem *c, int resource, int first);

/* Returns the ns of a sum that are left from the begin of a cell on. */
static inline double mo_cg_row_sum_ns(const mo_cg_problem *c, int first)
{
    return c->sum_ns - (double) first * (double) c->cell / c->cells;
}

/* Returns whether two rows are the same constraint. */
bool mo_cg_row_equal(const mo_cg_row *a, const mo_cg_row *b);

/* Returns the coefficient of a column in a row: its usage, for a column of a
 * class, if all branches of the class follow it. */
double mo_cg_row_coefficient(const mo_cg_problem *c, const mo_cg_row *row,
                             const mo_cg_column *column);

/* Returns how many equals a tree node has in all branches. */
static inline int mo_cg_multiplicity(const mo_cg_problem *c, int node)
{
    const mo_cg_tree_node *of = &c->tree->nodes[node];

    return c->fork->classes[of->class].count * of->total;
}

typedef struct mo_cg_usage {
    const mo_cg_problem *c;
    double *load;    /* by resource and cell; 1: the cell is full */
    double price_ns; /* of the branches; 0 without a budget */
} mo_cg_usage;

/* Allocates a usage profile; c is borrowed.  The caller frees *usage with
 * mo_cg_usage_free(), which accepts NULL. */
mo_status mo_cg_usage_new(const mo_cg_problem *c, mo_cg_usage **usage,
                          mo_error *err);
void mo_cg_usage_free(mo_cg_usage *usage);

/* Computes the usage of all cells by the columns of a pool, by weight. */
void mo_cg_usage_load(mo_cg_usage *usage, const mo_cg_column_pool *pool);

/* Separates a capacity row: the interval of a resource with the largest excess
 * over its capacity (maximum subarray). Returns the excess in cells and stores
 * the row in *worst; the interval counts as exactly full from then on, so that
 * the next call finds another. */
double mo_cg_separate_capacity(mo_cg_usage *usage, int resource,
                               mo_cg_row *worst);

/* Separates a sum of a resource, before any of its capacity rows, where the
 * budget has sum_ns.  Returns the excess in cells. */
double mo_cg_separate_sum(const mo_cg_usage *usage, int resource,
                          mo_cg_row *worst);

/* Separates a release row of a node on a device: the tick with the largest
 * excess. offset is that of the node's start grid there. Returns the excess, 0
 * with *worst unset if no row is violated. */
double mo_cg_separate_release(const mo_cg_problem *c,
                              const mo_cg_column_pool *pool, int node,
                              int device, int64_t offset, mo_cg_row *worst);

#endif
