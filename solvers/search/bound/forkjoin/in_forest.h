/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_forest.h - the ops between u and v, with one flow out of each.
 *
 * Leaving out a flow takes a precedence and a transfer away and adds nothing,
 * so every schedule of the graph is one of the forest, too: the forest takes no
 * longer.  A transfer that is kept is one that the schedule has: where a tensor
 * is sent to a device once, one reader there is enough to have it sent.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_FORKJOIN_IN_FOREST_H
#define MO_SOLVERS_SEARCH_BOUND_FORKJOIN_IN_FOREST_H

#include <stdbool.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

/* By an op's place in the segment. */
typedef struct mo_forkjoin_in_forest {
    int *reader;    /* a place; MO_FREE: v or nobody */
    int *row;       /* as in mo_forkjoin_op */
    int *u_row;     /* as in mo_forkjoin_op */
    int shared_row; /* as in mo_forkjoin */
    bool relaxed;   /* flows were left out */
} mo_forkjoin_in_forest;

/* Fills forest, whose arrays have room for all of the segment's ops. */
mo_status mo_forkjoin_in_forest_find(const mo_allowed_devices *places,
                                     const mo_bound_segment *segment,
                                     mo_forkjoin_in_forest *forest,
                                     mo_error *err);

#endif
