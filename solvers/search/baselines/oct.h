/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oct.h - PEFT's optimistic cost table (Arabnejad and Barbosa, 2014): a lower
 * bound on the time after an op on a device if all others were placed freely
 * without resource conflicts, with mean transfer times.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_OCT_H
#define MO_SOLVERS_SEARCH_BASELINES_OCT_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* Allocates *oct_ns, by op and device, op * K + device; the caller frees it. */
mo_status mo_baseline_oct_make(const mo_instance *x, const mo_regime *regime,
                               int64_t **oct_ns, mo_error *err);

/* Returns the mean of an op's row, rounded down. */
int64_t mo_baseline_oct_rank_ns(const mo_instance *x, const int64_t *oct_ns,
                                int op);

#endif
