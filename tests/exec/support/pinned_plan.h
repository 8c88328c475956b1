/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinned_plan.h - plans from a one-line text with the device of each op.
 *
 *     random_plan r;
 *
 *     pinned_plan_make(&r, "x op=Parameter; a op=Tanh pin=B; x>a", 0);
 *     random_plan_clear(&r);
 *
 * The syntax is that of problem.h; devices are A and B, and an op without a
 * pin is on A. Tensors are 4 by 4 of f32. Calls come in the order of the text,
 * which must respect the edges; transfers start when they are needed.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_PINNED_PLAN_H
#define MO_TESTS_EXEC_SUPPORT_PINNED_PLAN_H

#include "tests/exec/support/random_plan.h"

/* capacity_bytes: of both devices, while the plan is built; 0: no limit. */
void pinned_plan_make(random_plan *r, const char *graph,
                      int64_t capacity_bytes);

#endif
