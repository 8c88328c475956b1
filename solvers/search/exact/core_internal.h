/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_learn.h - clauses, between exact_core.c and exact_learn.c.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_CORE_INTERNAL_H
#define MO_SOLVERS_SEARCH_EXACT_CORE_INTERNAL_H

#include <stddef.h>

#include "solvers/search/exact/core.h"

/* Keeps a clause of two literals or more; returns its number. */
int mo_exact_core_store_clause(mo_exact_core *c, const int *literals, size_t n,
                               int spread);

/* Has its first two literals watched. */
void mo_exact_core_watch_clause(mo_exact_core *c, int clause);

#endif
