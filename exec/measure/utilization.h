/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization.h - utilization of devices in a run.
 */
#ifndef MO_EXEC_MEASURE_UTILIZATION_H
#define MO_EXEC_MEASURE_UTILIZATION_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Fractions of one; NAN where undefined. And the sum of durations of transfers,
 * each from when both ends were posted until it arrived. */
typedef struct mo_measure_utilization {
    double
        path; /* critical path of calls and transfers with measured times, or
                 the plan simulated with them, no step later than measured, over
                 the measured makespan: the rest is overhead between steps */
    double kernel; /* time that calls ran, over the time from each device's
                      first step to its last */
    double hidden; /* of the duration of transfers, the part during which their
                      receivers did not wait */
    int64_t transfer_ns;
} mo_measure_utilization;

/* result must have the steps of all devices that have any. */
mo_status mo_measure_utilization_of_run(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_measure_utilization *ratios,
                                        mo_error *err);

#endif
