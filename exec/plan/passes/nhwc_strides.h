/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nhwc_strides.h - strides of programs, copies and reductions, converted from
 * NCHW to channels-last (NHWC) tensors, and ranges of channels of these.
 */
#ifndef MO_EXEC_PLAN_PASSES_NHWC_STRIDES_H
#define MO_EXEC_PLAN_PASSES_NHWC_STRIDES_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"
#include "exec/plan/ir/plan.h"

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

/* A range of channels of a channels-last value. */
typedef struct mo_pass_channel_range {
    int64_t first, end;
} mo_pass_channel_range;

/* Returns whether the box writes one range of channels, at every place, and
 * nothing else; *channels is that range. */
bool mo_pass_box_channel_range(const mo_call_copy_box *box, const mo_shape *to,
                               mo_pass_channel_range *channels);

/* Returns whether both are channels-last, of one type and of the same shape
 * but for the channels, and part's channels from `at` on fit into whole's. */
bool mo_pass_channels_fit(const mo_plan_value *part, int64_t at,
                          const mo_plan_value *whole);

#endif
