/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_analysis.h - a run by its steps: utilization of devices, and the trace.
 */
#ifndef MO_EXEC_MEASURE_RUN_ANALYSIS_H
#define MO_EXEC_MEASURE_RUN_ANALYSIS_H

#include "base/error.h"
#include "base/out.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Fractions of one; NAN where undefined. And sums over transfers: of their
 * durations, each from when both ends were posted until its receiver went on,
 * and of the parts of these in which the receiver did nothing but wait. */
typedef struct mo_measure_utilization {
    double
        path; /* critical path of calls and transfers with measured times, or
                 the plan simulated with them, no step later than measured, over
                 the measured makespan: the rest is overhead between steps */
    double kernel; /* time that calls ran, over the time from each device's
                      first step to its last */
    double hidden; /* of the duration of transfers, the part during which their
                      receivers did not wait */
    int64_t transfer_ns, exposed_ns;
} mo_measure_utilization;

/* result must have the steps of all devices that have any. */
mo_status mo_measure_utilization_of_run(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_measure_utilization *ratios,
                                        mo_error *err);

/* Writes the steps in result to out in Chrome's trace event format, for
 * Perfetto; devices without steps there are left out. One process per device,
 * with a row for calls and one for each direction of transfers; flow arrows go
 * from sender to receiver. */
mo_status mo_measure_write_chrome_trace(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_out *out, mo_error *err);

#endif
