/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.h - what the ops between two others take at least, by the devices of
 * those two.
 *
 * The two are a chain's: u comes before all of the ops and v behind.  Whatever
 * else the graph holds, and clean cuts or not, the time from u's end to v's
 * start is not less than these ops need with only the flows among them.
 */
#ifndef MO_SCHEDULE_BOUND_SEGMENT_BOUND_H
#define MO_SCHEDULE_BOUND_SEGMENT_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/allowed_devices.h"

typedef struct mo_bound_segment {
    int u, v; /* MO_FREE: the beginning, the end of all */
    const int *ops;
    int n; /* of them, in topological order */
} mo_bound_segment;

typedef struct mo_bound_segments mo_bound_segments;

/* places must outlive it. */
mo_status mo_bound_segments_new(const mo_allowed_devices *places,
                                mo_bound_segments **segments, mo_error *err);
void mo_bound_segments_free(mo_bound_segments *segments);

/* Tables shall be done by then: what has not been found out is left out, and
 * what is told holds all the same.  NULL: nobody is in a hurry. */
void mo_bound_segments_set_stop(mo_bound_segments *segments,
                                const mo_stop *stop);

/*
 * Fills table[a * K + b] with the least time from u's end on a to v's start on
 * b, as far as u and v may be there; all that is longer than most_ns is cut
 * down to that, unless a single way or the work by itself takes longer.  With
 * MO_FREE only a = 0, or b = 0, is filled.
 */
void mo_bound_segments_table(mo_bound_segments *segments,
                             const mo_bound_segment *segment, int64_t most_ns,
                             int64_t *table);

#endif
