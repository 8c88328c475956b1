/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_bound.h - lower bound on a fork-join subgraph, whose ends are the ops u
 * and v (fork_join.h), from the loads of devices and ports, by column
 * generation and cutting planes. It takes milliseconds.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_H
#define MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

/* Stores in *bound_ns a lower bound on the time from the end of u to the
 * earliest start of v (all its inputs are there). Returns MO_OK unless memory
 * runs out. */
mo_status mo_load_bound(const mo_forkjoin_case *c, int64_t *bound_ns,
                        mo_error *err);

/*
 * The same with prices of memory (Lagrangian relaxation): a lower bound on that
 * time plus the prices of the devices of all ops of the segment.
 *
 * price_ns is indexed by op of the fork's instance and device; the least price
 * counts where members of a class have different ones. used_bytes, by device,
 * is set to the resident bytes of the fractional solution: a supergradient of
 * the bound as a function of the price of a byte. max_cases limits the
 * branching on the number of equal branches with an op on a device; 0: no
 * branching.
 */
mo_status mo_load_bound_priced(const mo_forkjoin_case *c,
                               const int64_t *price_ns, int max_cases,
                               int64_t *bound_ns, double *used_bytes,
                               mo_error *err);

/*
 * Rounding heuristic: a placement of the ops of equal branches from the
 * fractional solution of mo_load_bound_priced(). device is indexed by op of the
 * fork's instance. If *found is set to true, the devices of the ops of its
 * branches are set; other entries stay as they are.
 */
mo_status mo_load_round(const mo_forkjoin_case *c, const int64_t *price_ns,
                        int *device, bool *found, mo_error *err);

/* Returns about the work of a bound without cases, in units of
 * mo_stop_spend(). */
int64_t mo_load_bound_work(const mo_forkjoin *fork);

#endif
