/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_program.h - the best prices for goods, as far as the ways go that are
 * known so far.
 *
 *     max sum of v,   v_c <= what all branches of c cost in way P, for each P,
 *                     v_k <= what the shared tensor's way to k costs, for each,
 *                     sum of all prices <= 1
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_LP_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_LP_H

#include "solvers/search/lp/simplex.h"
#include "solvers/search/bound/colgen/master_row.h"

enum { MO_CG_MAX_ROWS = 320 };

typedef struct mo_cg_master_lp {
    const mo_cg_problem *c;
    const mo_cg_node *state;
    mo_cg_column_pool pool; /* all ways that are known */

    mo_cg_row *goods;
    int n_goods, max_goods;
    int *used;    /* by good: the last round in which it had a price */
    int n_rounds; /* so far: it was begun so often */
    double *best; /* by good: prices that the caller finds best */

    bool solved;         /* since it was begun */
    mo_lp_simplex *lp;   /* columns: v by class, v by device, prices */
    mo_cg_column **rows; /* by row of lp; NULL: the sum of all prices, and
                                roofs of the values */
    int n_rows;
    int *kept;
    double *entries;
} mo_cg_master_lp;

mo_status mo_cg_master_lp_new(const mo_cg_problem *c, mo_cg_master_lp **program,
                              mo_error *err);
void mo_cg_master_lp_free(mo_cg_master_lp *program);

/* Another state: its counts are goods from now on, others' are not. */
void mo_cg_master_lp_set_node(mo_cg_master_lp *program,
                              const mo_cg_node *state);

/* One more good, with a price of 0 in best; false: it is known, or there are
 * too many. */
bool mo_cg_master_lp_add_row(mo_cg_master_lp *program, const mo_cg_row *good);

/* The program anew for all goods, but for those that have been of no use for
 * some rounds, with the ways that were of use last and that the state allows.
 * That is quicker than to mend it when columns come: so many of its rows are
 * ties. */
mo_status mo_cg_master_lp_rebuild(mo_cg_master_lp *program, mo_error *err);

/* A row for a way, which is copied, if it cuts off the last solution, which
 * sets *cut, or if it must be there. */
mo_status mo_cg_master_lp_add_column(mo_cg_master_lp *program,
                                     const mo_cg_column *way, bool must,
                                     bool *cut, mo_error *err);

/* False: it could not be solved. */
bool mo_cg_master_lp_solve(mo_cg_master_lp *program);

/* By good, of the last solution. */
const double *mo_cg_master_lp_duals(const mo_cg_master_lp *program);

/* Ways get their weights in the last solution; those without are forgotten
 * first.  The program must be begun again afterwards.  Where it has no solution
 * since it was begun, they keep what they had. */
void mo_cg_master_lp_weigh_columns(mo_cg_master_lp *program);

#endif
