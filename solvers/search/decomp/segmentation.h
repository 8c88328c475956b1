/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - a network in pieces from one clean cut to the next.
 *
 * At a clean cut nothing else runs and nothing is on its way, so that pieces
 * meet in nothing but the device of the cut between them: the whole is a
 * shortest path over those.
 *
 *     piece 0 . cut 0 . piece 1 . cut 1 . ... . cut n-2 . piece n-1
 *
 * A cut belongs to both pieces beside it, as the last op of the one (its v) and
 * the first of the other (its u), where the clock begins when it has ended.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SEGMENTATION_H
#define MO_SOLVERS_SEARCH_DECOMP_SEGMENTATION_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_decomp_segments {
    const mo_instance *x;
    int n;       /* at least 1 */
    int *cut;    /* n - 1 ops: piece i ends with cut i */
    int n_kinds; /* pieces of one kind are alike but for where they lie */
    int *kind;   /* by piece */
    int *first;  /* by kind: the first piece of it */
    int *count;  /* by kind: pieces */
} mo_decomp_segments;

/* Cuts that lie between two ops of a colocation group, without being one of it,
 * are not used.  Without use_cuts all is one piece.  O(ops + flows). */
mo_status mo_decomp_segments_find(const mo_instance *x, const mo_regime *regime,
                                  bool use_cuts, mo_decomp_segments **pieces,
                                  mo_error *err);
void mo_decomp_segments_free(mo_decomp_segments *pieces);

static inline int mo_decomp_segment_entry(const mo_decomp_segments *p,
                                          int piece)
{
    return piece == 0 ? MO_FREE : p->cut[piece - 1];
}

static inline int mo_decomp_segment_exit(const mo_decomp_segments *p, int piece)
{
    return piece == p->n - 1 ? MO_FREE : p->cut[piece];
}

/* Its ops, u and v among them, are those from the first to the last. */
static inline int mo_decomp_segment_first_op(const mo_decomp_segments *p,
                                             int piece)
{
    return piece == 0 ? 0 : p->cut[piece - 1];
}

static inline int mo_decomp_segment_last_op(const mo_decomp_segments *p,
                                            int piece)
{
    return piece == p->n - 1 ? p->x->n - 1 : p->cut[piece];
}

#endif
