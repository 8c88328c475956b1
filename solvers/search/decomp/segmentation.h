/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segmentation.h - decomposition of a network into segments at its clean
 * cuts (graph/cut.h).
 *
 * While a clean cut runs nothing else does and no transfer is under way, so
 * that segments interact through the device of the cut between them only: a
 * schedule of the whole is a path over these devices (boundary_path.h).
 *
 *     segment 0 . cut 0 . segment 1 . cut 1 . ... . cut n-2 . segment n-1
 *
 * A cut belongs to both segments beside it: it is the exit op v of the one and
 * the entry op u of the other, which begins when u has ended.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SEGMENTATION_H
#define MO_SOLVERS_SEARCH_DECOMP_SEGMENTATION_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_decomp_segments {
    const mo_instance *x;
    int n;         /* segments, at least 1 */
    int *cut;      /* n - 1 ops: segment i ends with cut i */
    int n_classes; /* segments of one class are equal but for their position */
    int *cls;      /* by segment: its class */
    int *first;    /* by class: its first segment */
    int *count;    /* by class: number of segments */
} mo_decomp_segments;

/* Allocates *segments; the caller frees it with mo_decomp_segments_free(),
 * which accepts NULL, and x must outlive it. A cut between two ops of a
 * colocation group that is not of the group itself is not used; with use_cuts
 * false there is one segment. O(ops + flows).
 *
 * The entry and exit op of a segment are MO_FREE at the ends of the network. */
mo_status mo_decomp_segments_find(const mo_instance *x, const mo_regime *regime,
                                  bool use_cuts, mo_decomp_segments **segments,
                                  mo_error *err);
void mo_decomp_segments_free(mo_decomp_segments *segments);

static inline int mo_decomp_segment_entry(const mo_decomp_segments *p,
                                          int segment)
{
    return segment == 0 ? MO_FREE : p->cut[segment - 1];
}

static inline int mo_decomp_segment_exit(const mo_decomp_segments *p,
                                         int segment)
{
    return segment == p->n - 1 ? MO_FREE : p->cut[segment];
}

/* The ops of a segment, u and v among them, are first_op ... last_op. */
static inline int mo_decomp_segment_first_op(const mo_decomp_segments *p,
                                             int segment)
{
    return segment == 0 ? 0 : p->cut[segment - 1];
}

static inline int mo_decomp_segment_last_op(const mo_decomp_segments *p,
                                            int segment)
{
    return segment == p->n - 1 ? p->x->n - 1 : p->cut[segment];
}

#endif
