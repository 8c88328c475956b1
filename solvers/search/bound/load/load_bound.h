/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_fast.h - what a fork takes at least, in milliseconds: loads of devices
 * and ports over patterns of branches.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_H
#define MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

/* No schedule has less from the end of u on a to the moment when v could start
 * on b (all that it reads is there); where the segment has no u or no v, a or b
 * is MO_FREE: the clock starts at 0, or ends when the last op does. */
mo_status mo_load_bound(const mo_forkjoin *fork, const mo_regime *regime, int a,
                        int b, int64_t *bound_ns, mo_error *err);

#endif
