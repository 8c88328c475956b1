/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - calls told anew for tensors that lie channels last.
 *
 * Programs, copies and reductions say by strides where elements are; here the
 * strides of a plain tensor become those of one that lies channels last.
 */
#ifndef MO_EXEC_PLAN_PASSES_NHWC_STRIDES_H
#define MO_EXEC_PLAN_PASSES_NHWC_STRIDES_H

#include <stdbool.h>

#include "exec/op/call.h"

/* Is there a way to lie channels last, and does it differ from the plain one?
 * Of one channel, or of one place, the bytes are the same. */
bool mo_pass_nhwc_differs(const mo_shape *shape);

/* As mo_point_access_dense, channels last. */
mo_point_access mo_pass_nhwc_access(const mo_shape *shape);

/* One side of a box, as it was for a plain tensor.  False, with nothing
 * changed, when its dimensions are not those of the shape. */
bool mo_pass_nhwc_box_input(mo_call_copy_box *box, const mo_shape *shape);
bool mo_pass_nhwc_box_output(mo_call_copy_box *box, const mo_shape *shape);

/* The input of a reduction. */
bool mo_pass_nhwc_reduce_input(mo_call_reduce *reduce, const mo_shape *shape);

#endif
