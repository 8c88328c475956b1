/*
 * timed_split.h - which assumption to make next, where prices alone refute
 * nothing.
 */
#ifndef MO_SEARCH_TIMED_SPLIT_H
#define MO_SEARCH_TIMED_SPLIT_H

#include "solvers/search/timed_pool.h"

enum { MO_TIMED_MAX_PARTS = 2 };

/*
 * Splits a state into parts that together leave nothing out, so that the ways
 * which have a weight in the pool are allowed by none of them as they are: the
 * shared tensor is read before it has come, or so many ops and a half run on a
 * device.  *n is 0 where nothing of the kind is to be found.  The parts are the
 * caller's; the one that is more likely to be feasible comes last.
 */
mo_status mo_timed_split(const mo_timed_case *c, const mo_timed_state *state,
                         const mo_timed_pool *pool,
                         mo_timed_state *parts[MO_TIMED_MAX_PARTS], int *n,
                         mo_error *err);

#endif
