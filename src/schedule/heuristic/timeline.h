/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - when one device, port, channel or link is busy.
 *
 * A timeline that is all zeros is free for ever.  Its arrays are the caller's
 * to give back, with mo_timeline_clear.
 */
#ifndef MO_SCHEDULE_HEURISTIC_TIMELINE_H
#define MO_SCHEDULE_HEURISTIC_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_timeline_span {
    int64_t from_ns, to_ns;
} mo_timeline_span;

/* Two views of the same, both sorted: what takes time looks for a gap, what
 * takes none for the end of what it would interrupt. */
typedef struct mo_timeline {
    mo_timeline_span *busy;
    size_t n_busy, busy_room;
    mo_timeline_span *gaps; /* of some length; the last one never ends */
    size_t n_gaps, gaps_room;
} mo_timeline;

/* What it takes to undo a put. */
typedef struct mo_timeline_change {
    size_t gap, busy; /* where */
    mo_timeline_span old_gap;
    int n_new_gaps; /* in its place; -1: nothing changed */
} mo_timeline_change;

void mo_timeline_clear(mo_timeline *t);

/* The earliest start, at or after ready_ns, for something of that length.  With
 * length 0 it may lie where something ends or begins, but not within. */
int64_t mo_timeline_earliest(const mo_timeline *t, int64_t ready_ns,
                             int64_t length_ns);

/* Occupies the span, which must be free; what takes no time will not be
 * covered by anything put later. */
mo_status mo_timeline_insert(mo_timeline *t, int64_t start_ns,
                             int64_t length_ns, mo_timeline_change *change,
                             mo_error *err);

/* Takes the last put back that has not been taken back. */
void mo_timeline_undo(mo_timeline *t, const mo_timeline_change *change);

#endif
