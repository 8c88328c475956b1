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
bool mo_relay_differs(const mo_shape *shape);

/* As mo_access_of, channels last. */
mo_access mo_relay_access(const mo_shape *shape);

/* One side of a box, as it was for a plain tensor.  False, with nothing
 * changed, when its dimensions are not those of the shape. */
bool mo_relay_in(mo_copy_box *box, const mo_shape *shape);
bool mo_relay_out(mo_copy_box *box, const mo_shape *shape);

/* The input of a reduction. */
bool mo_relay_reduce(mo_reduce_call *reduce, const mo_shape *shape);

#endif
