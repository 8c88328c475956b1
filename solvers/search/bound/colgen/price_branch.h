/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_branch.h - the cheapest way to run a branch from beginning to end, when
 * time has prices: devices and starts of all its ops, and its transfers.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_H

#include "solvers/search/bound/colgen/dual_profile.h"

typedef struct mo_cg_branch_pricer mo_cg_branch_pricer;

/* state: the first, with nothing assumed; c must outlive it. */
mo_status mo_cg_branch_pricer_new(const mo_cg_problem *c,
                                  const mo_cg_node *state,
                                  mo_cg_branch_pricer **branch, mo_error *err);
void mo_cg_branch_pricer_free(mo_cg_branch_pricer *branch);

/* By which the cells of a node on a device are shifted (timed_case.h). */
int64_t mo_cg_branch_pricer_cell_offset(const mo_cg_branch_pricer *branch,
                                        int node, int device);

/* Prices and state are used until the next call. */
void mo_cg_price_branches(mo_cg_branch_pricer *branch,
                          const mo_cg_dual_profile *prices,
                          const mo_cg_node *state);

/* The least price of a branch of a class with its root on a device; INFINITY:
 * there is no such branch.  Nothing that happens costs less. */
double mo_cg_branch_pricer_min_cost(const mo_cg_branch_pricer *branch,
                                    int class, int device);

/* The most jobs that a way may have. */
int mo_cg_branch_pricer_max_jobs(const mo_cg_branch_pricer *branch);

/* The way that has the least price: fills devices, starts and jobs, for which
 * there is room. */
void mo_cg_branch_pricer_extract_column(mo_cg_branch_pricer *branch, int class,
                                        int device, mo_cg_column *way);

#endif
