/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absorb.h - copies that need not be made, because readers find the elements
 * where they were.
 *
 * Transposes, slices and the like, read by other copies, by elementwise work,
 * or as a side of a product.
 */
#ifndef MO_EXEC_PLAN_PASSES_COPY_ELIM_H
#define MO_EXEC_PLAN_PASSES_COPY_ELIM_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/plan.h"

/* Before there are transfers and steps, when it is known how values lie; on the
 * devices that want it (NULL: none).  What nobody reads any more is left to be
 * pruned. */
mo_status mo_pass_copy_elim(const bool *wants, mo_exec_plan *plan,
                            mo_error *err);

#endif
