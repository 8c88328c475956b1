/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simplex.h - dense simplex method (Dantzig, 1951) for small linear programs
 * that grow: rows are added as cutting planes, columns by column generation.
 *
 *     maximise c z   subject to   a_i z <= b_i,   z >= 0
 *
 * Made for hundreds of rows and columns at most. Floating point: a bound must
 * be verified from z or from the duals by the caller. An object is used by one
 * thread at a time.
 */
#ifndef MO_SOLVERS_SEARCH_LP_SIMPLEX_H
#define MO_SOLVERS_SEARCH_LP_SIMPLEX_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_lp_simplex mo_lp_simplex;

/* Allocates *lp with n columns, costs c and no rows; the caller frees it with
 * mo_lp_simplex_free(), which accepts NULL. */
mo_status mo_lp_simplex_new(int n, const double *c, mo_lp_simplex **lp,
                            mo_error *err);
void mo_lp_simplex_free(mo_lp_simplex *lp);

/* Appends a row a z <= b, or a column with its entries in the rows so far; the
 * arrays are copied. The basis is kept. */
mo_status mo_lp_simplex_add_row(mo_lp_simplex *lp, const double *a, double b,
                                mo_error *err);
mo_status mo_lp_simplex_add_column(mo_lp_simplex *lp, double c,
                                   const double *entries, mo_error *err);

/* Solves from the present basis (warm start). Returns false where the program
 * is unbounded, infeasible, or numerically too hard. */
bool mo_lp_simplex_solve(mo_lp_simplex *lp);

/* Of the last solution: its value, z, and the dual values of the rows.
 * Returned arrays are owned by lp and valid until it changes. */
double mo_lp_simplex_objective(const mo_lp_simplex *lp);
const double *mo_lp_simplex_primal(const mo_lp_simplex *lp);
const double *mo_lp_simplex_duals(const mo_lp_simplex *lp);

/* Removes rows that have been slack for the most solutions, until at most
 * `most` are left. kept[i], for every row so far, becomes its new number or
 * -1; the caller allocates it. */
void mo_lp_simplex_purge_slack_rows(mo_lp_simplex *lp, int most, int *kept);

#endif
