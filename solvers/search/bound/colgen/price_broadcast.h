/*
 * timed_shared.h - the cheapest time for the shared tensor to come to a device.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BROADCAST_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BROADCAST_H

#include "solvers/search/bound/colgen/dual_profile.h"

/* Nothing that a state allows costs less.  *tick: when it has come; beyond the
 * horizon: never. */
double mo_timed_shared_least(const mo_timed_case *c,
                             const mo_timed_prices *prices,
                             const mo_timed_state *state, int device,
                             int64_t *tick);

/* Makes the pattern of it; there is room for a start and the jobs. */
void mo_timed_shared_way(const mo_timed_case *c, int device, int64_t tick,
                         mo_timed_pattern *way);

#endif
