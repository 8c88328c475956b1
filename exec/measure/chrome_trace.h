/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_trace.h - a run in Chrome's trace event format, for Perfetto. One
 * process per device, with a row for calls and one for each direction of
 * transfers; flow arrows go from sender to receiver.
 */
#ifndef MO_EXEC_MEASURE_CHROME_TRACE_H
#define MO_EXEC_MEASURE_CHROME_TRACE_H

#include "base/error.h"
#include "base/out.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Writes the steps in result to out; devices without steps there are left
 * out. */
mo_status mo_measure_write_chrome_trace(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_out *out, mo_error *err);

#endif
