/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - blocks that live for a while, each in a place of one arena.
 *
 *     bytes ^  +--------+   +----+
 *           |  |   b    |   | d  |     Blocks whose lives overlap never share
 *           |  +---+----+---+----+     a byte; the arena is as small as we get
 *           |      |    c   |          it (the best is NP-hard to find).
 *           +--------------------> steps
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_OFFSETS_H
#define MO_EXEC_PLAN_SCHEDULE_OFFSETS_H

#include <stdint.h>

#include "base/error.h"

enum {
    MO_PLAN_BUFFER_ALIGN = 64
}; /* a cache line, and all that vectors ask for */

typedef struct mo_plan_buffer {
    int owner;      /* what the caller knows it by; no two are equal */
    int begin, end; /* both are a part of its life */
    int64_t bytes;
    int64_t offset; /* found; a multiple of MO_PLAN_BUFFER_ALIGN */
} mo_plan_buffer;

/* The size of the arena, and what none can be smaller than: the most that
 * lives at one time, each block rounded up to MO_PLAN_BUFFER_ALIGN. */
typedef struct mo_plan_arena_size {
    int64_t bytes, bound_bytes;
} mo_plan_arena_size;

/* Gives every block its offset, and sorts them by begin.  The same blocks have
 * the same offsets, in whatever order they come. */
mo_status mo_plan_assign_offsets(mo_plan_buffer *blocks, int n,
                                 mo_plan_arena_size *packed, mo_error *err);

#endif
