/*
 * timed_master.h - prices for goods that show that there is not enough of them.
 *
 * Prices are at least 0.  If all branches and arrivals, each in its cheapest
 * way, cost more than all goods together, of some good more is used than there
 * is, whatever the ways.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_H

#include <stdint.h>

#include "base/stop.h"
#include "solvers/search/bound/colgen/column_pool.h"

typedef struct mo_timed_master mo_timed_master;

typedef struct mo_timed_effort {
    int steps;  /* of finding better prices */
    int rounds; /* of finding other stretches of time to put them on */
    const mo_stop *stop;
} mo_timed_effort;

/* state: the first, with nothing assumed; c must outlive it. */
mo_status mo_timed_master_new(const mo_timed_case *c,
                              const mo_timed_state *state,
                              mo_timed_master **master, mo_error *err);
void mo_timed_master_free(mo_timed_master *master);

/* Whether nothing that a state allows is in time, as far as prices can tell. */
mo_status mo_timed_master_try(mo_timed_master *master,
                              const mo_timed_state *state,
                              const mo_timed_effort *effort, bool *refuted,
                              mo_error *err);

/* Steps that all of that has taken so far. */
int64_t mo_timed_master_steps(const mo_timed_master *master);

/* If not: ways to run the branches that hold the resources no longer than they
 * are there, when a part of each branch may go one way and a part another: the
 * patterns that have a weight, which is that part. */
const mo_timed_pool *mo_timed_master_pool(const mo_timed_master *master);

#endif
