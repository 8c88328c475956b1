/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - windows in any number of spatial dimensions, as if there were
 * always three.
 */
#ifndef MO_EXEC_OP_WINDOW_GEOMETRY_H
#define MO_EXEC_OP_WINDOW_GEOMETRY_H

#include "exec/op/call.h"

/* The same in three dimensions; those that are missing are ones in front. */
mo_call_window mo_call_window_to_3d(const mo_call_window *sweep);

/* Of its in, out or kernel: how many elements that is. */
static inline int64_t
mo_call_window_volume(const int64_t dims[MO_CALL_MAX_SPATIAL])
{
    return dims[0] * dims[1] * dims[2];
}

#endif
