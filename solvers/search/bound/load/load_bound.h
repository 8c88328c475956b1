/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_bound.h - lower bound on a fork-join subgraph from the loads of devices
 * and ports, by column generation and cutting planes; takes milliseconds.
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
 * The same with prices of memory: a lower bound on that time plus the price of
 * the devices of all ops of the segment.  price_ns is by op of the fork's
 * instance and device; where members of a class have different prices the
 * least counts.  used_bytes, by device: the resident bytes of the fractional
 * solution, a supergradient of the bound by prices of bytes.  max_cases: how
 * many cases of numbers of equal branches by op and device it may take to raise
 * the bound, 0: none.
 */
mo_status mo_load_bound_priced(const mo_forkjoin_case *c,
                               const int64_t *price_ns, int max_cases,
                               int64_t *bound_ns, double *used_bytes,
                               mo_error *err);

/*
 * Rounding heuristic: a placement of the ops of equal branches from the
 * fractional solution of mo_load_bound_priced().  device is by op of the
 * fork's instance; those of its branches are set, *found: at all.
 */
mo_status mo_load_round(const mo_forkjoin_case *c, const int64_t *price_ns,
                        int *device, bool *found, mo_error *err);

/* Returns about the work of a bound without cases, in units of
 * mo_stop_spend(). */
int64_t mo_load_bound_work(const mo_forkjoin *fork);

#endif
