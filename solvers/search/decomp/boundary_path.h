/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary_path.h - shortest path through the segments of a decomposition
 * (dynamic programming over layers, Bellman 1957): nodes are the states at
 * each cut, arcs the times of a segment between two states.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_BOUNDARY_PATH_H
#define MO_SOLVERS_SEARCH_DECOMP_BOUNDARY_PATH_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/decomp/segmentation.h"

typedef struct mo_decomp_path {
    const mo_decomp_segments *segments;
    int n_states;
    const int64_t **tables; /* by class, set by the caller, borrowed: ns by
                               boundary, INT64_MAX: no arc */
    int *state;             /* by cut: state on the last path */
    unsigned char *from;    /* by segment and exit state: predecessor */
    int64_t *now, *next; /* by state: distances before and behind a segment */
} mo_decomp_path;

enum { MO_DECOMP_MAX_STATES = 64 };

/* Allocates *path for at most MO_DECOMP_MAX_STATES states; the caller frees it
 * with mo_decomp_path_free(), which accepts NULL. segments must outlive it. */
mo_status mo_decomp_path_new(const mo_decomp_segments *segments, int n_states,
                             mo_decomp_path **path, mo_error *err);
void mo_decomp_path_free(mo_decomp_path *path);

/* Returns the length of a shortest path in ns, INT64_MAX if there is none, and
 * fills state. Ties go to the smaller state, from the last cut backwards. */
int64_t mo_decomp_path_shortest(mo_decomp_path *path);

/* Returns the boundary (entry state * n_states + exit state) of a segment on
 * the last path. */
int mo_decomp_path_boundary(const mo_decomp_path *path, int segment);

#endif
