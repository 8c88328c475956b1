/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - the shortest way through the segments, from state to state at the
 * cuts between them.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_BOUNDARY_PATH_H
#define MO_SOLVERS_SEARCH_DECOMP_BOUNDARY_PATH_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/decomp/segmentation.h"

typedef struct mo_decomp_path {
    const mo_decomp_segments *segments;
    int n_states;
    const int64_t **tables; /* by class: times by boundary of states, INT64_MAX
                               for what cannot be; for the caller to set */
    int *state;             /* by cut: of the way found last */
    unsigned char *from; /* by segment and state behind it: the state before */
    int64_t *now, *next; /* by state */
} mo_decomp_path;

enum { MO_DECOMP_MAX_STATES = 64 };

/* segments must outlive it; at most MO_DECOMP_MAX_STATES states. */
mo_status mo_decomp_path_new(const mo_decomp_segments *segments, int n_states,
                             mo_decomp_path **path, mo_error *err);
void mo_decomp_path_free(mo_decomp_path *path);

/* Its length by the tables, INT64_MAX where there is none; fills state.  Of
 * ways that are as short, the one with smaller states, from the end on. */
int64_t mo_decomp_path_shortest(mo_decomp_path *path);

/* The boundary of states that the way found last takes through a segment. */
int mo_decomp_path_boundary(const mo_decomp_path *path, int segment);

#endif
