/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_geometry.h - sliding windows in one to three spatial dimensions as
 * windows in three.
 */
#ifndef MO_EXEC_OP_WINDOW_GEOMETRY_H
#define MO_EXEC_OP_WINDOW_GEOMETRY_H

#include "exec/op/call.h"

/* Returns the window with leading dimensions of 1 up to three. */
mo_call_window mo_call_window_to_3d(const mo_call_window *sweep);

/* Returns the number of elements: the product of in, out or kernel. */
static inline int64_t
mo_call_window_volume(const int64_t dims[MO_CALL_MAX_SPATIAL])
{
    return dims[0] * dims[1] * dims[2];
}

#endif
