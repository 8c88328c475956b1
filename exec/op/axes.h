/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.h - which dimensions an operator works along.
 */
#ifndef MO_EXEC_OP_AXES_H
#define MO_EXEC_OP_AXES_H

#include "exec/op/op_site.h"

/* Input 0 seen as three dimensions, the middle one an axis. */
typedef struct mo_lower_axis_split {
    int at;
    int64_t outer, count, inner;
} mo_lower_axis_split;

mo_status mo_lower_axis_split_at(const mo_op_site *site, int64_t axis,
                                 mo_lower_axis_split *split, mo_error *err);

/* The dimensions of input 0 that input 1 lists; without it, all of them. */
mo_status mo_lower_axes_mask(const mo_op_site *site, bool marks[MO_MAX_RANK],
                             mo_error *err);

#endif
