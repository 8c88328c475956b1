/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_memo.h - tables of segments that have been seen before.
 *
 * Stacked layers are the same segment again and again: in structure, times and
 * memory.  Those are looked at once.
 */
#ifndef MO_SCHEDULE_BOUND_SEGMENT_CACHE_H
#define MO_SCHEDULE_BOUND_SEGMENT_CACHE_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

typedef struct mo_bound_segment_cache mo_bound_segment_cache;

/* places must outlive it and stay as they are. */
mo_status mo_bound_segment_cache_new(const mo_allowed_devices *places,
                                     mo_bound_segment_cache **memo,
                                     mo_error *err);
void mo_bound_segment_cache_free(mo_bound_segment_cache *memo);

/* As mo_bound_segments_table; most_ns is the same each time. */
mo_status mo_bound_segment_cache_table(mo_bound_segment_cache *memo,
                                       mo_bound_segments *segments,
                                       const mo_bound_segment *segment,
                                       int64_t most_ns, int64_t *table,
                                       mo_error *err);

#endif
