/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.h - axes of an operator: lists from inputs, and the split of a shape at
 * an axis.
 */
#ifndef MO_EXEC_OP_AXES_H
#define MO_EXEC_OP_AXES_H

#include "exec/op/op_site.h"

/* Input 0 as three dimensions, the middle one an axis. */
typedef struct mo_lower_axis_split {
    int at;
    int64_t outer, count, inner;
} mo_lower_axis_split;

mo_status mo_lower_axis_split_at(const mo_op_site *site, int64_t axis,
                                 mo_lower_axis_split *split, mo_error *err);

/* Marks the dimensions of input 0 that input 1 lists; all of them when there
 * is no input 1. */
mo_status mo_lower_axes_mask(const mo_op_site *site, bool marks[MO_MAX_RANK],
                             mo_error *err);

#endif
