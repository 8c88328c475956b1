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

typedef struct mo_memo mo_memo;

/* places must outlive it and stay as they are. */
mo_status mo_memo_new(const mo_places *places, mo_memo **memo, mo_error *err);
void mo_memo_free(mo_memo *memo);

/* As mo_segments_table; most_ns is the same each time. */
mo_status mo_memo_table(mo_memo *memo, mo_segments *segments,
                        const mo_segment *segment, int64_t most_ns,
                        int64_t *table, mo_error *err);

#endif
