/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first.h - first answers, at once: what list schedulers make of the whole.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_INITIAL_H
#define MO_SOLVERS_SEARCH_DRIVER_INITIAL_H

#include "base/error.h"
#include "solvers/search/driver/state.h"

/* One device alone, HEFT, and the other quick methods of the table, as far as
 * they are quick for so many ops: the answer is never worse than theirs. */
mo_status mo_search_initial_schedules(mo_search_state *search, mo_error *err);

/* A bound of the whole by itself, memory counted. */
mo_status mo_search_initial_bound(mo_search_state *search, mo_error *err);

#endif
