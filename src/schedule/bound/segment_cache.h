/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_cache.h - memoization of segment tables.
 *
 * Stacked layers repeat the same segment in structure, times and memory; its
 * table is computed once.
 */
#ifndef MO_SCHEDULE_BOUND_SEGMENT_CACHE_H
#define MO_SCHEDULE_BOUND_SEGMENT_CACHE_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

typedef struct mo_bound_segment_cache mo_bound_segment_cache;

/* places must outlive the cache, unchanged.  The caller frees *memo with
 * mo_bound_segment_cache_free(), which accepts NULL. */
mo_status mo_bound_segment_cache_new(const mo_allowed_devices *domains,
                                     mo_bound_segment_cache **cache,
                                     mo_error *err);
void mo_bound_segment_cache_free(mo_bound_segment_cache *cache);

/* As mo_bound_segments_table, from the cache where possible; most_ns must be
 * the same each time. */
mo_status mo_bound_segment_cache_table(mo_bound_segment_cache *cache,
                                       mo_bound_segments *segments,
                                       const mo_bound_segment *segment,
                                       int64_t most_ns, int64_t *table,
                                       mo_error *err);

#endif
