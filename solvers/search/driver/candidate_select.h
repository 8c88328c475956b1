/* SPDX-License-Identifier: Apache-2.0 */
/*
 * candidate_select.h - selection of subproblems (class and boundary) for the
 * next round, by optimistic estimates.
 *
 * A job may close a fraction of the gap of a boundary, most of it for an
 * untried one; each further attempt reduces the fraction. The boundaries on
 * shortest paths by these estimates are the candidates, with the gain that
 * they promise for the whole.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_CANDIDATE_SELECT_H
#define MO_SOLVERS_SEARCH_DRIVER_CANDIDATE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

enum {
    MO_SEARCH_EXACT_MAX_OPS = 24,      /* always searched exactly */
    MO_SEARCH_EXACT_RARE_MAX_OPS = 45, /* searched exactly at some levels */
    MO_SEARCH_MAX_EFFORT_LEVEL = 24    /* of a candidate */
};

/* A subproblem and its estimated gain for the makespan. */
typedef struct mo_search_candidate {
    int cls, boundary;
    bool exact; /* selected for its lower bound */
    double gain_ns;
} mo_search_candidate;

typedef struct mo_search_candidates mo_search_candidates;

/* Allocates *candidates; the caller frees it with mo_search_candidates_free(),
 * which accepts NULL. search must outlive it. */
mo_status mo_search_candidates_new(mo_search_state *search,
                                   mo_search_candidates **candidates,
                                   mo_error *err);
void mo_search_candidates_free(mo_search_candidates *candidates);

/* Selects by the current bounds: n candidates by falling gain, in an array
 * that is owned by candidates and valid until the next call. *part is the
 * fraction of the makespan that may still be saved by the estimates. */
mo_status mo_search_candidates_select(mo_search_candidates *candidates,
                                      const mo_search_candidate **chosen,
                                      size_t *n, double *part, mo_error *err);

#endif
