/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_bound.h - lower bound on a segment: the time between two ops of a
 * chain, by the devices of those two.
 *
 * u precedes all of the ops and v succeeds them.  Whatever else the graph
 * holds, and clean cuts or not, the time from u's end to v's start is at least
 * what these ops need with only the flows among them.
 */
#ifndef MO_SCHEDULE_BOUND_SEGMENT_BOUND_H
#define MO_SCHEDULE_BOUND_SEGMENT_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/allowed_devices.h"

typedef struct mo_bound_segment {
    int u, v; /* MO_FREE: the start, the end of the schedule */
    const int *ops;
    int n; /* number of ops, in topological order */
} mo_bound_segment;

/* Placements of so many ops can be enumerated. */
enum { MO_BOUND_FEW_OPS = 6 };

typedef struct mo_bound_segments mo_bound_segments;

/* domains must outlive it.  The caller frees *segments with
 * mo_bound_segments_free(), which accepts NULL. */
mo_status mo_bound_segments_new(const mo_allowed_devices *domains,
                                mo_bound_segments **segments, mo_error *err);
void mo_bound_segments_free(mo_bound_segments *segments);

/* Stop condition of later tables (borrowed; NULL: none).  Entries computed
 * after it is reached are weaker and still valid. */
void mo_bound_segments_set_stop(mo_bound_segments *segments,
                                const mo_stop *stop);

/*
 * Fills table[a * K + b] with a lower bound on the time from u's end on a to
 * v's start on b, for allowed devices of u and v; values above most_ns are cut
 * down to it, unless a single path or the work alone takes longer.  With
 * MO_FREE only a = 0, or b = 0, is filled.
 */
void mo_bound_segments_table(mo_bound_segments *segments,
                             const mo_bound_segment *segment, int64_t most_ns,
                             int64_t *table);

/* The same by paths and divisible load alone, without a search. */
void mo_bound_segments_paths(mo_bound_segments *segments,
                             const mo_bound_segment *segment, int64_t *table);

/* Returns whether the time from u's end on a to v's start on b is proven to be
 * at least *time_ns, by one test, or else by the bisection that fills a table
 * up to most_ns; otherwise *time_ns becomes what is proven. */
bool mo_bound_segments_prove(mo_bound_segments *segments,
                             const mo_bound_segment *segment, int a, int b,
                             int64_t most_ns, int64_t *time_ns);

#endif
