/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_halving.h - successive halving of schedules with prices of memory
 * (Lagrangian prices of memory capacity): target times and the budget of the
 * branches' memory are those of the priced load bound.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_PRICED_HALVING_H
#define MO_SOLVERS_SEARCH_PRIMAL_PRICED_HALVING_H

#include "solvers/search/primal/successive_halving.h"

/* Sets *best, which the caller frees, to the schedule of least priced time; ops
 * outside the fork, and the devices of its ends, begin as in start.  anneal has
 * prices, and the moves of the first rung; stay and others are as in
 * successive_halving.h. */
mo_status mo_primal_priced_halving(
    const mo_instance *x, const mo_regime *regime, const mo_schedule *start,
    const mo_forkjoin *fork, const mo_primal_anneal_options *anneal, bool stay,
    mo_primal_halving_others *others, mo_schedule **best, mo_error *err);

#endif
