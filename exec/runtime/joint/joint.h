/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint.h - runs of the devices that one thread drives: a single device, or
 * several with separate memory as one program.
 *
 * The steps of several devices, in the total order of the plan, become one
 * program (a CUDA graph over all devices): calls on the streams of their units,
 * and between them direct (peer-to-peer) transfers without host memory. It is
 * launched at once, and the host does not wait in between:
 *
 *     a, streams |--a1--|-----a2-----|
 *     a, out            |~~x~~|
 *     b, streams |--b1----|   |--b2--|
 *
 * A value between two of them is copied by their backend; one from or to
 * another process by the transport's carrier. Other transfers are staged
 * through host memory: there the program is cut in two segments. A device
 * without separate memory has no program; its calls run one after the other.
 *
 * There are no timestamps inside a program: step_times.c computes the times of
 * its steps.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_JOINT_H
#define MO_EXEC_RUNTIME_JOINT_JOINT_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/runtime/device/device_run.h"

/* Selects the devices of this rank that can be driven together: those of the
 * first backend that supports it. Fills chosen, by device of the plan, and
 * returns their number. */
int mo_joint_select_devices(const mo_exec_plan *plan,
                            const mo_run_plan_options *options, bool *chosen);

/* What mo_joint_run_devices() has done, beside the times of the devices. */
typedef struct mo_joint_runs {
    int n_warm_ups;
    /* Why no program was recorded, where one was wanted; else "". */
    char eager_reason[MO_RUN_REASON_SIZE];
    int64_t chain_ns; /* as in mo_run_result */
} mo_joint_runs;

/* Opens the n devices, executes warm-ups and timed runs in step with all other
 * threads, and fetches the outputs, all from the calling thread. The caller
 * zeroes runs and closes the devices, also on failure. One device may be
 * MO_PLAN_NONE: it only takes part in collective calls. */
mo_status mo_joint_run_devices(mo_run_device *const *devices, int n,
                               mo_joint_runs *runs, mo_error *err);

#endif
