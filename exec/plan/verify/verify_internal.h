/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_internal.h - the checks of the verifier, in order. Each relies on
 * those before it.
 */
#ifndef MO_EXEC_PLAN_VERIFY_VERIFY_INTERNAL_H
#define MO_EXEC_PLAN_VERIFY_VERIFY_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* Numbers are in range; device, type and size agree. */
mo_status mo_verify_values(const mo_exec_plan *plan, mo_error *err);
mo_status mo_verify_transfers_and_io(const mo_exec_plan *plan, mo_error *err);
mo_status mo_verify_calls(const mo_exec_plan *plan, mo_error *err);

/* A part of another value stays inside it and overlaps no other part. */
mo_status mo_verify_concat_inplace(const mo_exec_plan *plan, mo_error *err);

/* Every call runs once, on its device; every transfer is posted and then
 * awaited once at either end. */
mo_status mo_verify_steps(const mo_exec_plan *plan, mo_error *err);

/* All devices reach their ends without buffering. */
mo_status mo_verify_no_deadlock(const mo_exec_plan *plan, mo_error *err);

/* Values are written once and read afterwards. */
mo_status mo_verify_dataflow(const mo_exec_plan *plan, mo_error *err);

/* One total order is consistent with all devices. */
mo_status mo_verify_total_order(const mo_exec_plan *plan, mo_error *err);

/* States have bytes of their own, which are overwritten after the last read. */
mo_status mo_verify_states(const mo_exec_plan *plan, mo_error *err);

/* No byte belongs to two live values. */
mo_status mo_verify_memory(const mo_exec_plan *plan, mo_error *err);

/* The same for concurrent calls; and their operands are complete. */
mo_status mo_verify_streams(const mo_exec_plan *plan, mo_error *err);

/* A name for errors; a plan may have none. */
static inline const char *mo_verify_name(const char *name)
{
    return name ? name : "";
}

/* Fails with "device 'A', step 3 (send 'x'): ..." and MO_E_INPUT. */
mo_status mo_verify_fail(const mo_exec_plan *plan, int device, int step,
                         mo_error *err, const char *format, ...)
    MO_PRINTF(5, 6);

#endif
