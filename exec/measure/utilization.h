/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratios.h - how well a run used its devices.
 */
#ifndef MO_EXEC_MEASURE_UTILIZATION_H
#define MO_EXEC_MEASURE_UTILIZATION_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Parts of one; NAN where there is nothing to tell. */
typedef struct mo_measure_utilization {
    double path;   /* the longest chain of calls and transfers with measured
                      times, or the plan walked through with them, no step
                      later than it was, over the measured makespan: the
                      rest is overhead between steps */
    double kernel; /* the time that calls ran, over that from each device's
                      first step to its last */
    double hidden; /* of the time transfers were under way, what their receivers
                      did not wait */
} mo_measure_utilization;

/* result must have the steps of all devices that have any. */
mo_status mo_measure_utilization_of_run(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_measure_utilization *ratios,
                                        mo_error *err);

#endif
