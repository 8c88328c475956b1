/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a run as browsers show it: Chrome's trace events, which Perfetto
 * reads, too.  A process for each device, in it a row for calls and one for
 * each direction of transfers; arrows go from sender to receiver.
 */
#ifndef MO_EXEC_MEASURE_CHROME_TRACE_H
#define MO_EXEC_MEASURE_CHROME_TRACE_H

#include "base/error.h"
#include "base/out.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Devices whose steps are not in result are left out. */
mo_status mo_measure_write_chrome_trace(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_out *out, mo_error *err);

#endif
