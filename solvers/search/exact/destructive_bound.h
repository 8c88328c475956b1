/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_ask.h - bounds from below: the exact search is asked for much less than
 * the best so far, and what it refutes raises the bound.
 *
 * That all ends within some time is a literal, decided before all others.  What
 * is learnt meanwhile holds ever after, since the literal is part of it where
 * it mattered.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_DESTRUCTIVE_BOUND_H
#define MO_SOLVERS_SEARCH_EXACT_DESTRUCTIVE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "solvers/search/exact/exact_internal.h"

/* At level 0, before the search: raises the bound as far as it goes without any
 * decision.  False: there is nothing to find at all. */
bool mo_exact_destructive_root(mo_exact_search *s);

/* At level 0: what to ask for next, after that many conflicts so far.  It takes
 * turns with searching for anything better. */
void mo_exact_destructive_next(mo_exact_search *s, int64_t conflicts);

/* Is the question of the hour answered with no?  Then the bound is raised. */
bool mo_exact_destructive_refuted(mo_exact_search *s);

#endif
