/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_branch.h - pricing problem of a branch: the column of least dual cost
 * (devices and starts of all its ops, and its transfers), by dynamic
 * programming over the in-tree and a time grid.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_H

#include "solvers/search/bound/colgen/dual_profile.h"

typedef struct mo_cg_pricer mo_cg_pricer;

/* Allocates the tables; state is the propagated root node, used only here. c
 * is borrowed and must outlive the pricer. The caller frees *pricer with
 * mo_cg_pricer_free(), which accepts NULL. */
mo_status mo_cg_pricer_new(const mo_cg_problem *c, const mo_cg_node *state,
                           mo_cg_pricer **pricer, mo_error *err);
void mo_cg_pricer_free(mo_cg_pricer *pricer);

/* Returns the offset of the start grid of a node on a device (problem.h). */
int64_t mo_cg_pricer_cell_offset(const mo_cg_pricer *pricer, int node,
                                 int device);

/* Fills the tables of all classes. prices and state are borrowed until the
 * next call. */
void mo_cg_price_branches(mo_cg_pricer *pricer,
                          const mo_cg_dual_profile *prices,
                          const mo_cg_node *state);

/* Returns a lower bound on the dual cost of a branch of a class with its root
 * on a device; INFINITY: there is no such branch. */
double mo_cg_pricer_min_cost(const mo_cg_pricer *pricer, int class, int device);

/* Returns the largest number of jobs of a column, for buffers. */
int mo_cg_pricer_max_jobs(const mo_cg_pricer *pricer);

/* Extracts the column of least cost from the tables: fills devices, starts and
 * jobs of *column, whose buffers the caller has allocated. */
void mo_cg_pricer_extract_column(mo_cg_pricer *pricer, int class, int device,
                                 mo_cg_column *column);

#endif
