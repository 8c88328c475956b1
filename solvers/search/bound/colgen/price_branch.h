/*
 * timed_branch.h - the cheapest way to run a branch from beginning to end, when
 * time has prices: devices and starts of all its ops, and its transfers.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_H

#include "solvers/search/bound/colgen/dual_profile.h"

typedef struct mo_timed_branch mo_timed_branch;

/* state: the first, with nothing assumed; c must outlive it. */
mo_status mo_timed_branch_new(const mo_timed_case *c,
                              const mo_timed_state *state,
                              mo_timed_branch **branch, mo_error *err);
void mo_timed_branch_free(mo_timed_branch *branch);

/* By which the cells of a node on a device are shifted (timed_case.h). */
int64_t mo_timed_branch_offset(const mo_timed_branch *branch, int node,
                               int device);

/* Prices and state are used until the next call. */
void mo_timed_branch_price(mo_timed_branch *branch,
                           const mo_timed_prices *prices,
                           const mo_timed_state *state);

/* The least price of a branch of a class with its root on a device; INFINITY:
 * there is no such branch.  Nothing that happens costs less. */
double mo_timed_branch_least(const mo_timed_branch *branch, int class,
                             int device);

/* The most jobs that a way may have. */
int mo_timed_branch_jobs(const mo_timed_branch *branch);

/* The way that has the least price: fills devices, starts and jobs, for which
 * there is room. */
void mo_timed_branch_way(mo_timed_branch *branch, int class, int device,
                         mo_timed_pattern *way);

#endif
