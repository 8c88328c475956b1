/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background_runs.h - a measured run on one device with background load on the
 * others.
 *
 * Devices of one machine share memory and clocks, so ops are measured while
 * all devices are busy, as in the placed network.
 */
#ifndef MO_DRIVER_PROFILE_BACKGROUND_RUNS_H
#define MO_DRIVER_PROFILE_BACKGROUND_RUNS_H

#include "base/error.h"
#include "base/stop.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/runtime/run.h"

/* A device with its own plan. */
typedef struct mo_profiler_target {
    const mo_exec_plan *plan; /* of one device */
    const mo_tensor_dense *inputs;
    const mo_backend *backend;
    mo_backend_unit_options unit;
} mo_profiler_target;

/* Runs the plan in the calling thread. whole: only the whole network is timed,
 * not its calls. *result begins as zeros; the caller clears it. */
mo_status mo_profiler_target_run(const mo_profiler_target *target, int warm_ups,
                                 int runs, bool whole, const mo_stop *stop,
                                 mo_run_result *result, mo_error *err);

/* Runs a stream of requests on the device, n_slots in flight. *result begins as
 * zeros; the caller clears it. With memory of its own it has loads of calls. */
mo_status mo_profiler_target_stream(const mo_profiler_target *target,
                                    int n_slots, int64_t n_requests,
                                    mo_pipeline_result *result, mo_error *err);

/* The same for any plan, on the devices and with the inputs of the options. */
mo_status mo_profiler_plan_stream(const mo_exec_plan *plan,
                                  const mo_run_plan_options *devices,
                                  int n_slots, int64_t n_requests,
                                  mo_pipeline_result *result, mo_error *err);

/* Returns how many requests of that period take half a second: not below
 * least, and limited. */
int64_t mo_profiler_stream_length(int64_t least, int64_t period_ns);

typedef struct mo_profiler_background mo_profiler_background;

/* Starts n background runs that repeat until stopped, each in a thread; targets
 * are copied. Results are discarded, and CPU devices may fail silently.
 * Devices with memory of their own take time to start: returns when all of
 * them run, or fails with the reason of the first that cannot. */
mo_status mo_profiler_background_start(const mo_profiler_target *targets, int n,
                                       mo_profiler_background **background,
                                       mo_error *err);

/* Stops the runs, joins their threads and frees background; accepts NULL. */
void mo_profiler_background_stop(mo_profiler_background *background);

#endif
