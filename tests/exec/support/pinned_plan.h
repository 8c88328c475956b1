/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinned_plan.h - the plan of a few words that say where each op is.
 *
 *     random_plan r;
 *
 *     pinned_plan_make(&r, "x op=Parameter; a op=Tanh pin=B; x>a", 0);
 *     random_plan_clear(&r);
 *
 * Words are those of problem.h; devices are A and B, and an op without a pin is
 * on A.  Tensors are 4 by 4 of f32.  Calls come in the order of the text, which
 * is one that edges allow; what is sent is sent when it is needed.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_PINNED_PLAN_H
#define MO_TESTS_EXEC_SUPPORT_PINNED_PLAN_H

#include "tests/exec/support/random_plan.h"

/* capacity_bytes: of both devices, while the plan is made; 0: no limit. */
void pinned_plan_make(random_plan *r, const char *graph,
                      int64_t capacity_bytes);

#endif
