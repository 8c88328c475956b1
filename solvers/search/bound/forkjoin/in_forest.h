/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_forest.h - in-forest relaxation: the ops between u and v, with one
 * outgoing flow each.
 *
 * Dropping a flow removes a precedence and a transfer and adds nothing, so
 * every schedule of the graph is one of the forest: the optimum of the forest
 * is a lower bound. A transfer that is kept is one that the schedule has:
 * where a tensor is sent to a device once, one reader there implies the
 * transfer.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_FORKJOIN_IN_FOREST_H
#define MO_SOLVERS_SEARCH_BOUND_FORKJOIN_IN_FOREST_H

#include <stdbool.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

/* By index of an op in the segment. */
typedef struct mo_forkjoin_in_forest {
    int *reader;       /* an index; MO_FREE: v or none */
    int *row;          /* as in mo_forkjoin_op */
    int *u_row;        /* as in mo_forkjoin_op */
    int broadcast_row; /* as in mo_forkjoin */
    bool relaxed;      /* flows were dropped */
} mo_forkjoin_in_forest;

/* Fills the forest, whose buffers the caller has allocated for all ops of the
 * segment. */
mo_status mo_forkjoin_find_in_forest(const mo_allowed_devices *places,
                                     const mo_bound_segment *segment,
                                     mo_forkjoin_in_forest *forest,
                                     mo_error *err);

#endif
