/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_parts.h - the inside of verify.h: what is looked at, one after the
 * other.  Each part relies on those before it.
 */
#ifndef MO_EXEC_PLAN_VERIFY_VERIFY_INTERNAL_H
#define MO_EXEC_PLAN_VERIFY_VERIFY_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* Numbers are in range, and what belongs together is of one device, type and
 * size. */
mo_status mo_verify_values(const mo_exec_plan *plan, mo_error *err);
mo_status mo_verify_transfers_and_io(const mo_exec_plan *plan, mo_error *err);
mo_status mo_verify_calls(const mo_exec_plan *plan, mo_error *err);

/* What is made among the bytes of another value stays there, and apart. */
mo_status mo_verify_concat_inplace(const mo_exec_plan *plan, mo_error *err);

/* Does attention stay within what it reads and writes? */
bool mo_verify_attention(const mo_exec_plan *plan, const mo_call *call);

/* Every call is done once, where it belongs; every transfer is begun and then
 * awaited once at either end. */
mo_status mo_verify_steps(const mo_exec_plan *plan, mo_error *err);

/* Devices come to their ends whatever is buffered: not at all. */
mo_status mo_verify_no_deadlock(const mo_exec_plan *plan, mo_error *err);

/* Values are written once and read when they are there. */
mo_status mo_verify_dataflow(const mo_exec_plan *plan, mo_error *err);

/* There is one order that all devices keep. */
mo_status mo_verify_total_order(const mo_exec_plan *plan, mo_error *err);

/* No byte belongs to two values at a time. */
mo_status mo_verify_memory(const mo_exec_plan *plan, mo_error *err);

/* Nor where calls run side by side; and what they read is there then, too. */
mo_status mo_verify_streams(const mo_exec_plan *plan, mo_error *err);

/* A name for errors; a plan may have none. */
static inline const char *mo_verify_name(const char *name)
{
    return name ? name : "";
}

/* "device 'A', step 3 (send 'x'): ..." with MO_E_INPUT. */
mo_status mo_verify_fail(const mo_exec_plan *plan, int device, int step,
                         mo_error *err, const char *format, ...)
    MO_PRINTF(5, 6);

#endif
