/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master_lp.h - LP of the restricted master problem, solved in its dual form:
 * one variable per row of the master, one constraint per column.
 *
 * max sum of v,   v_c <= cost of all branches of c in column P, for each P,
 *                 v_k <= cost of a broadcast column to k, for each,
 *                 sum of all duals <= 1
 *
 * In this form a new column is a violated constraint (Kelley's cutting
 * planes), and the dual simplex method continues from the last basis.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_LP_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_LP_H

#include "solvers/search/lp/simplex.h"
#include "solvers/search/bound/colgen/master_row.h"

enum { MO_CG_MAX_ROWS = 320 };

typedef struct mo_cg_master_lp {
    const mo_cg_problem *c;
    const mo_cg_node *state;
    mo_cg_column_pool pool; /* all columns known */

    mo_cg_row *rows;
    int n_rows, max_rows;
    int *last_used;     /* by row: last round with a positive dual */
    int n_rounds;       /* number of rebuilds so far */
    double *best_duals; /* by row: stability center, set by the caller */

    bool solved;            /* since the last rebuild */
    mo_lp_simplex *simplex; /* variables: v by class, v by device, duals */
    mo_cg_column **lp_rows; /* by constraint of simplex; NULL: the sum of duals,
                               and bounds of v */
    int n_lp_rows;
    int *kept;
    double *entries;
} mo_cg_master_lp;

/* Allocates an LP without rows and columns; c is borrowed.  The caller frees
 * *lp with mo_cg_master_lp_free(), which accepts NULL. */
mo_status mo_cg_master_lp_new(const mo_cg_problem *c, mo_cg_master_lp **lp,
                              mo_error *err);
void mo_cg_master_lp_free(mo_cg_master_lp *lp);

/* Switches to a node. */
void mo_cg_master_lp_set_node(mo_cg_master_lp *lp, const mo_cg_node *state);

/* Adds a row, with 0 in best_duals. Returns false if it is there already or
 * the limit is reached. */
bool mo_cg_master_lp_add_row(mo_cg_master_lp *lp, const mo_cg_row *row);

/* Builds the LP anew, for all rows except those unused for some rounds, from
 * the columns that were in the last solutions and that the node allows. This
 * is quicker than adding variables: the optimum is highly degenerate. */
mo_status mo_cg_master_lp_rebuild(mo_cg_master_lp *lp, mo_error *err);

/* Adds a constraint for a column, which is copied, if the last solution
 * violates it (then *cut is set to true) or if `must`. */
mo_status mo_cg_master_lp_add_column(mo_cg_master_lp *lp,
                                     const mo_cg_column *column, bool must,
                                     bool *cut, mo_error *err);

/* Returns false if the simplex method failed numerically. */
bool mo_cg_master_lp_solve(mo_cg_master_lp *lp);

/* Returns the duals of the last solution, by row; owned by the LP. */
const double *mo_cg_master_lp_duals(const mo_cg_master_lp *lp);

/* Stores the value of every column in the last solution as its weight, then
 * trims the pool. The LP must be rebuilt afterwards. Without a solution since
 * the last rebuild, weights stay as they are. */
void mo_cg_master_lp_weigh_columns(mo_cg_master_lp *lp);

#endif
