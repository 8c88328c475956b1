/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest.h - what is joined along its channels is made where it will lie.
 *
 *     a = conv x             [aaaa] \                  a and b are parts of c:
 *     b = conv x             [bb]   -> c [aaaabb]      each place of c has
 * first c = copy a, b                                    a's channels, then b's
 *
 * The copy stays, with what else there is to move: it says when all of c is
 * there.
 */
#ifndef MO_EXEC_PLAN_PASSES_CONCAT_INPLACE_H
#define MO_EXEC_PLAN_PASSES_CONCAT_INPLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/plan/ir/plan.h"

/* Some channels of a value that lies channels last. */
typedef struct mo_pass_channel_range {
    int64_t first, end;
} mo_pass_channel_range;

/* Does the box write just these, of every place, and nothing else? */
bool mo_pass_box_channel_range(const mo_call_copy_box *box, const mo_shape *to,
                               mo_pass_channel_range *channels);

/* Are both channels last, of one type, and alike but for the channels, of which
 * part has no more from `at` on than whole has? */
bool mo_pass_channels_fit(const mo_plan_value *part, int64_t at,
                          const mo_plan_value *whole);

#endif
