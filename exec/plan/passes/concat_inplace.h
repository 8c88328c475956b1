/* SPDX-License-Identifier: Apache-2.0 */
/*
 * concat_inplace.h - in-place concatenation: convolutions write directly into
 * the buffer of the concatenated result.
 *
 *     a = conv x             [aaaa] \                  a and b are parts of c:
 *     b = conv x             [bb]   -> c [aaaabb]      each place of c has
 *     c = copy a, b                                    a's channels, then b's
 *
 * The copy call stays, with the boxes of other operands: it marks the point at
 * which all of c is complete.
 */
#ifndef MO_EXEC_PLAN_PASSES_CONCAT_INPLACE_H
#define MO_EXEC_PLAN_PASSES_CONCAT_INPLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/plan/ir/plan.h"

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
