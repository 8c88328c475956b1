/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oct.h - PEFT's optimistic cost table: what comes at least behind an op that
 * has ended on a device, were all others placed at will and never in each
 * other's way, with transfers as long as they are on average.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_OCT_H
#define MO_SOLVERS_SEARCH_BASELINES_OCT_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* By op and device, op * K + device; the caller frees it. */
mo_status mo_baseline_oct_make(const mo_instance *x, const mo_regime *regime,
                               int64_t **oct_ns, mo_error *err);

/* The mean of an op's row, rounded down. */
int64_t mo_baseline_oct_rank_ns(const mo_instance *x, const int64_t *oct_ns,
                                int op);

#endif
