/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hopes.h - which boundaries of which classes of segments are worth trying.
 *
 * Where nothing was tried a boundary may turn out as good as its bound says;
 * the more was tried, the less is to be hoped for.  The shortest path by what
 * is hoped for tells which boundaries to try next, and what that could gain.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_CANDIDATE_SELECT_H
#define MO_SOLVERS_SEARCH_DRIVER_CANDIDATE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

enum {
    MO_SEARCH_EXACT_MAX_OPS = 24,      /* so few are searched through at once */
    MO_SEARCH_EXACT_RARE_MAX_OPS = 45, /* so few now and then */
    MO_SEARCH_MAX_EFFORT_LEVEL =
        24 /* of trying a boundary; then it is left alone */
};

/* What might be tried, and what could come of it for the whole. */
typedef struct mo_search_candidate {
    int cls, boundary;
    bool exact; /* for its bound */
    double gain_ns;
} mo_search_candidate;

typedef struct mo_search_candidates mo_search_candidates;

/* search must outlive it. */
mo_status mo_search_candidates_new(mo_search_state *search,
                                   mo_search_candidates **hopes, mo_error *err);
void mo_search_candidates_free(mo_search_candidates *hopes);

/* Looks at what is known now: n options, those that promise most first, which
 * stay the hopes' own.  *part is that of the makespan which is hoped to be
 * saved, sooner or later. */
mo_status mo_search_candidates_select(mo_search_candidates *hopes,
                                      const mo_search_candidate **options,
                                      size_t *n, double *part, mo_error *err);

#endif
