/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_snug.h - when the shared tensor can come, if it is never sent later
 * than it might be.
 *
 * As long as its resources are idle just before, a transfer of the shared
 * tensor can begin earlier, and nothing else has to change: what reads it may
 * read it later.  So if anything is in time, something is in which each of them
 * begins at 0, or as another transfer ends that holds one of its resources.
 * What is assumed of arrivals and counts divides all schedules among states;
 * that one is in some of them, and there this holds.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_LEFT_SHIFT_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_LEFT_SHIFT_H

#include "solvers/search/bound/colgen/node.h"

/* The first tick from this one on at which the shared tensor may come to a
 * device; INT64_MAX: there is none.  est, lst, lo and hi of the state are taken
 * for true. */
int64_t mo_cg_left_shift_next(const mo_cg_problem *c, const mo_cg_node *state,
                              int device, int64_t tick);

#endif
