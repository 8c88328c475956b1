/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simplex.h - small dense linear programs that grow by rows, as cutting planes
 * and columns (in the dual) come.
 *
 *     maximise c z   subject to   a_i z <= b_i,   z >= 0
 *
 * Made for hundreds of rows and columns at most.  Nobody may rely on its last
 * digits: what is proven with z must be proven again from z.
 */
#ifndef MO_SOLVERS_SEARCH_LP_SIMPLEX_H
#define MO_SOLVERS_SEARCH_LP_SIMPLEX_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_lp_simplex mo_lp_simplex;

/* n columns with costs c. */
mo_status mo_lp_simplex_new(int n, const double *c, mo_lp_simplex **lp,
                            mo_error *err);
void mo_lp_simplex_free(mo_lp_simplex *lp);

/* Another row, or another column with its entries in the rows so far. */
mo_status mo_lp_simplex_add_row(mo_lp_simplex *lp, const double *a, double b,
                                mo_error *err);
mo_status mo_lp_simplex_add_column(mo_lp_simplex *lp, double c,
                                   const double *entries, mo_error *err);

/* Solves on from where it was.  False: unbounded, infeasible, or too hard. */
bool mo_lp_simplex_solve(mo_lp_simplex *lp);

/* Of the last solution: value, columns, and the prices of the rows. */
double mo_lp_simplex_objective(const mo_lp_simplex *lp);
const double *mo_lp_simplex_primal(const mo_lp_simplex *lp);
const double *mo_lp_simplex_duals(const mo_lp_simplex *lp);

/* Forgets rows that have been slack in the last solutions, until at most that
 * many are left.  kept[i], for all rows so far, is the new number or -1. */
void mo_lp_simplex_purge_slack_rows(mo_lp_simplex *lp, int most, int *kept);

#endif
