/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - timeline of a unary resource (device, port, channel or link):
 * busy spans and gaps.
 *
 * A timeline of zeros is free for ever.  The caller frees its arrays with
 * mo_timeline_clear.
 */
#ifndef MO_SCHEDULE_HEURISTIC_TIMELINE_H
#define MO_SCHEDULE_HEURISTIC_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_timeline_span {
    int64_t from_ns, to_ns;
} mo_timeline_span;

/* Two views of the same, both sorted: what takes time is placed in a gap; what
 * takes none waits for the end of the busy span that it would interrupt. */
typedef struct mo_timeline {
    mo_timeline_span *busy;
    size_t n_busy, busy_room;
    mo_timeline_span *gaps; /* of positive length; the last one never ends */
    size_t n_gaps, gaps_room;
} mo_timeline;

/* Undo record of one insertion. */
typedef struct mo_timeline_change {
    size_t gap, busy; /* indices */
    mo_timeline_span old_gap;
    int n_new_gaps; /* that replaced it; -1: nothing changed */
} mo_timeline_change;

void mo_timeline_clear(mo_timeline *t);

/* Returns the earliest start, at or after ready_ns, for something of that
 * length.  With length 0 it may lie where a span ends or begins, but not
 * within. */
int64_t mo_timeline_earliest(const mo_timeline *t, int64_t ready_ns,
                             int64_t length_ns);

/* Occupies the span, which must be free; a later insertion will not cover
 * something of length 0 either. */
mo_status mo_timeline_insert(mo_timeline *t, int64_t start_ns,
                             int64_t length_ns, mo_timeline_change *change,
                             mo_error *err);

/* Undoes the last insertion that has not been undone. */
void mo_timeline_undo(mo_timeline *t, const mo_timeline_change *change);

#endif
