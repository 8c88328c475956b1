/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_timed.h - proofs that a fork takes longer than some time, by prices on
 * stretches of time of devices and ports.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCH_AND_PRICE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCH_AND_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_cg_options {
    int effort; /* 1: about a second for a hundred ops; doubles the work */
    const mo_stop *stop;
    /* NULL, or: filled, where there is no proof, with a placement that the
     * prices suggest, a device and a start for each op of the fork's segment in
     * its order; *suggested says whether it was. */
    int *device;
    int64_t *start_ns;
    bool *suggested;
} mo_cg_options;

/* True: with u on a and v on b (as in fork_fast.h), v cannot start within
 * time_ns, not even just then.  False says nothing. */
mo_status mo_cg_refute(const mo_forkjoin *fork, const mo_regime *regime, int a,
                       int b, int64_t time_ns, const mo_cg_options *options,
                       bool *refuted, mo_error *err);

/* The same, bit by bit. */
typedef struct mo_cg_search mo_cg_search;

/* fork must outlive it. */
mo_status mo_cg_search_new(const mo_forkjoin *fork, const mo_regime *regime,
                           int a, int b, int64_t time_ns, int effort,
                           mo_cg_search **question, mo_error *err);
void mo_cg_search_free(mo_cg_search *question);

/* Goes on for some more than so many steps to better prices; *done: it is
 * answered.  However it is divided, the answer is the same.  The options'
 * effort does not count. */
mo_status mo_cg_search_run(mo_cg_search *question, int64_t steps,
                           const mo_cg_options *options, bool *done,
                           bool *refuted, mo_error *err);

/* After one look at prices: what they suggest for all to be done within
 * time_ns, with the shared tensor coming to those devices that receive it
 * (NULL: to any) and read on each of them.  Parts of branches become whole ones
 * by point, from 0 to 1: others, other counts of them.  hint has room for all
 * ops of the fork's segment. */
mo_status mo_cg_rounding_heuristic(const mo_forkjoin *fork,
                                   const mo_regime *regime, int a, int b,
                                   int64_t time_ns, const bool *receives,
                                   double point, const mo_stop *stop,
                                   mo_decomp_solution_hint *hint,
                                   bool *suggested, mo_error *err);

#endif
