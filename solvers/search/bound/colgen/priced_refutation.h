/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_refutation.h - branch and price as a destructive lower bound on the
 * time of a fork-join subgraph plus the prices of the devices of its ops.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICED_REFUTATION_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICED_REFUTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

typedef struct mo_cg_priced_task {
    const mo_forkjoin *fork;
    const mo_regime *regime;
    int a, b;                /* devices of u and v, as in load_bound.h */
    const int64_t *price_ns; /* by op of the fork's instance and device */
    int64_t least_ns;        /* a lower bound on the time alone */
    const mo_stop *stop;     /* NULL: none */
} mo_cg_priced_task;

/* Sets *refuted to true when time plus prices are at least target_ns, whatever
 * the placement of the branches; false proves nothing. *n_calls is raised by
 * the searches that this took, each of some hundred iterations of a master.
 * Returns MO_OK unless memory runs out. */
mo_status mo_cg_priced_refute(const mo_cg_priced_task *task, int64_t target_ns,
                              bool *refuted, int *n_calls, mo_error *err);

#endif
