/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nhwc_strides.h - strides of programs, copies and reductions, converted from
 * NCHW to channels-last (NHWC) tensors.
 */
#ifndef MO_EXEC_PLAN_PASSES_NHWC_STRIDES_H
#define MO_EXEC_PLAN_PASSES_NHWC_STRIDES_H

#include <stdbool.h>

#include "exec/op/call.h"

/* Returns whether the channels-last layout exists and differs from NCHW. With
 * one channel, or one place, the bytes are the same. */
bool mo_pass_nhwc_differs(const mo_shape *shape);

/* As mo_point_access_dense, channels-last. */
mo_point_access mo_pass_nhwc_access(const mo_shape *shape);

/* Convert one side of a box from NCHW. Return false, with nothing changed,
 * when the box's dimensions are not those of the shape. */
bool mo_pass_nhwc_box_input(mo_call_copy_box *box, const mo_shape *shape);
bool mo_pass_nhwc_box_output(mo_call_copy_box *box, const mo_shape *shape);

/* The same for the input of a reduction. */
bool mo_pass_nhwc_reduce_input(mo_call_reduce *reduce, const mo_shape *shape);

#endif
