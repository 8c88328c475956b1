/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.h - a network in segments from one clean cut to the next.
 *
 * At a clean cut nothing else runs and nothing is on its way, so that segments
 * meet in nothing but the device of the cut between them: the whole is a
 * shortest path over those.
 *
 *     segment 0 . cut 0 . segment 1 . cut 1 . ... . cut n-2 . segment n-1
 *
 * A cut belongs to both segments beside it, as the last op of the one (its v)
 * and the first of the other (its u), where the clock begins when it has ended.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SEGMENTATION_H
#define MO_SOLVERS_SEARCH_DECOMP_SEGMENTATION_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_decomp_segments {
    const mo_instance *x;
    int n;         /* at least 1 */
    int *cut;      /* n - 1 ops: segment i ends with cut i */
    int n_classes; /* segments of one class are alike but for where they lie */
    int *cls;      /* by segment */
    int *first;    /* by class: the first segment of it */
    int *count;    /* by class: segments */
} mo_decomp_segments;

/* Cuts that lie between two ops of a colocation group, without being one of it,
 * are not used.  Without use_cuts all is one segment.  O(ops + flows). */
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

/* Its ops, u and v among them, are those from the first to the last. */
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
