/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_company.h - a network on one device, and others that run beside it.
 *
 * Devices of one machine share its memory and its clocks: what an op takes is
 * measured while all of them are at work, as they will be.
 */
#ifndef MO_DRIVER_PROFILE_BACKGROUND_RUNS_H
#define MO_DRIVER_PROFILE_BACKGROUND_RUNS_H

#include "base/error.h"
#include "base/stop.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* A device with a plan of its own. */
typedef struct mo_profiler_target {
    const mo_exec_plan *plan; /* of one device */
    const mo_tensor_dense *inputs;
    const mo_backend *backend;
    mo_backend_unit_options unit;
} mo_profiler_target;

/* Runs it here; whole: how long its calls take by themselves is of no use.
 * result begins as zeros and is the caller's to clear. */
mo_status mo_profiler_target_run(const mo_profiler_target *solo, int warm_ups,
                                 int runs, bool whole, const mo_stop *stop,
                                 mo_run_result *result, mo_error *err);

typedef struct mo_profiler_background mo_profiler_background;

/* From here on n others run again and again, each in a thread; solos are
 * copied.  What they compute is nobody's concern; nor is whether threads of
 * processors can.  Where memory is apart it takes its time to begin: all are at
 * work when this returns, or it says why one cannot. */
mo_status mo_profiler_background_start(const mo_profiler_target *solos, int n,
                                       mo_profiler_background **company,
                                       mo_error *err);
void mo_profiler_background_stop(mo_profiler_background *company);

#endif
