/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_bound_internal.h - the data of priced_bound.h, for the refutations at
 * its prices.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PRICED_BOUND_INTERNAL_H
#define MO_SOLVERS_SEARCH_DRIVER_PRICED_BOUND_INTERNAL_H

#include "schedule/bound/op_chain.h"
#include "schedule/bound/priced_chain.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/driver/priced_bound.h"

struct mo_search_priced_bound {
    mo_search_state *s;
    mo_allowed_devices domains; /* of the whole; owns allowed */
    mo_bound_chain chain;       /* of the whole */
    int *block;                 /* by segment of the chain; -1: no op between */
    int *cls, *first;           /* classes: equal segments of one block */
    int n_classes;
    const int64_t **table; /* by class */
    int64_t *direct; /* by segment class and boundary: tables of those without
                        ops */
    mo_forkjoin **forks; /* by class; NULL: none */
    mo_priced_chain_tables tables;
    mo_priced_chain *chain_prices;
    uint64_t tables_sum; /* of all blocks' tables at the last call */
    bool has_prices;     /* found by a call */
    bool has_forks;      /* some class has one */
    const mo_stop *stop; /* of the current call: counts its work */
    int64_t case_work;   /* left for cases of load bounds */
    /* By class and boundary: entries proven at fixed prices, which take the
     * place of load bounds (0: none yet), and these prices by op and device,
     * of the chain; known is NULL at other prices. */
    int64_t *known;
    const int64_t *op_price_ns;
    mo_status refined; /* of the load bounds: the first failure */
    mo_error err;
};

#endif
