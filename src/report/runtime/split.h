/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - contiguous split of a chain over devices, in any order of devices:
 * dynamic programme over sets of devices (Held and Karp, 1962), with classes of
 * interchangeable devices in the place of sets.
 *
 *     f[S, d, u] = least time of the units before u on the devices S, the last
 *                  of them on d
 *                = min over d', v:  f[S - d, d', v] + transfer(v, d', d)
 *                                   + segment(d, v, u)
 *
 * A segment that does not fit its device has experts in main memory, those that
 * lose the least time (knapsack.h); and those that gain time.
 */
#ifndef MO_REPORT_RUNTIME_SPLIT_H
#define MO_REPORT_RUNTIME_SPLIT_H

#include <stdbool.h>

#include "base/error.h"
#include "report/runtime/chain.h"

typedef struct mo_split {
    mo_chain_placement placement;
    mo_chain_figures figures;
    double bound_ns; /* no placement that the rules allow takes less */
} mo_split;

/* Finds the split of least figures.request_ns over the devices allowed; one of
 * at least bound_ns where several devices share a main memory that is too small
 * for the best of each.  Fails with MO_E_INFEASIBLE where no split fits into
 * memory.  The caller clears *split. */
mo_status mo_split_find(const mo_chain *c, const bool *allowed, mo_split *split,
                        mo_error *err);

/* Makes the split with counts[k] layers on device order[k], the head behind the
 * last layer; experts are on the device of their layer.  It may not fit:
 * split->figures.fits.  bound_ns is 0. */
mo_status mo_split_by_counts(const mo_chain *c, const int *order,
                             const int *counts, int n, mo_split *split,
                             mo_error *err);
void mo_split_clear(mo_split *split);

#endif
