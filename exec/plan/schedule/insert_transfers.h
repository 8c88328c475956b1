/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - every value where it is read: copies, and the transfers that bring
 * them.
 *
 *     device A     conv --> x --> view v          x, made here
 *                           :
 *     device B              x' --> view v'        one transfer for both
 *
 * A tensor goes to a device once, whoever reads it there and through whatever
 * view.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_INSERT_TRANSFERS_H
#define MO_EXEC_PLAN_SCHEDULE_INSERT_TRANSFERS_H

#include <stdint.h>

#include "base/error.h"
#include "exec/plan/plan.h"

/* Makes the transfers of the plan and lets every call read values of its own
 * device.  A transfer of what another one brought has the larger number.
 * *start_ns, by transfer: when the schedule starts it; free() it. */
mo_status mo_plan_insert_transfers(const mo_plan_source *source,
                                   mo_exec_plan *plan, int64_t **start_ns,
                                   mo_error *err);

#endif
