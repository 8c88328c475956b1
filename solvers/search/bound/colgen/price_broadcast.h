/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_shared.h - the cheapest time for the shared tensor to come to a device.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BROADCAST_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BROADCAST_H

#include "solvers/search/bound/colgen/dual_profile.h"

/* Nothing that a state allows costs less.  *tick: when it has come; beyond the
 * horizon: never. */
double mo_cg_price_broadcast(const mo_cg_problem *c,
                             const mo_cg_dual_profile *prices,
                             const mo_cg_node *state, int device,
                             int64_t *tick);

/* Makes the pattern of it; there is room for a start and the jobs. */
void mo_cg_broadcast_column(const mo_cg_problem *c, int device, int64_t tick,
                            mo_cg_column *way);

#endif
