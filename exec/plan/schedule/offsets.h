/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offsets.h - offset assignment: buffers with live ranges, packed into one
 * arena (dynamic storage allocation).
 *
 *     bytes ^  +--------+   +----+
 *           |  |   b    |   | d  |     Buffers whose live ranges overlap never
 *           |  +---+----+---+----+     share a byte.  The smallest arena is
 *           |      |    c   |          NP-hard to find (Garey, Johnson 1979);
 *           +--------------------> steps    this is a heuristic.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_OFFSETS_H
#define MO_EXEC_PLAN_SCHEDULE_OFFSETS_H

#include <stdint.h>

#include "base/error.h"

enum { MO_PLAN_BUFFER_ALIGN = 64 }; /* a cache line, and the widest vector */

typedef struct mo_plan_buffer {
    int owner;      /* the caller's key; unique */
    int begin, end; /* inclusive live range */
    int64_t bytes;
    int64_t offset; /* result; a multiple of MO_PLAN_BUFFER_ALIGN */
} mo_plan_buffer;

/* The size of the arena and its lower bound: the most bytes live at one step,
 * each buffer rounded up to MO_PLAN_BUFFER_ALIGN. */
typedef struct mo_plan_arena_size {
    int64_t bytes, bound_bytes;
} mo_plan_arena_size;

/* Assigns every buffer its offset, and sorts the caller's array by begin.
 * Deterministic: the same buffers have the same offsets, in whatever order
 * they come. */
mo_status mo_plan_assign_offsets(mo_plan_buffer *blocks, int n,
                                 mo_plan_arena_size *packed, mo_error *err);

#endif
