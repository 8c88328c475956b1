/*
 * first.h - first answers, at once: what list schedulers make of the whole.
 */
#ifndef MO_SEARCH_FIRST_H
#define MO_SEARCH_FIRST_H

#include "base/error.h"
#include "solvers/search/search.h"

/* One device alone, HEFT, and the other quick methods of the table, as far as
 * they are quick for so many ops: the answer is never worse than theirs. */
mo_status mo_first_answers(mo_search *search, mo_error *err);

/* A bound of the whole by itself, memory counted. */
mo_status mo_first_bound(mo_search *search, mo_error *err);

#endif
