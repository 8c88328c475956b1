/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint.h - joint execution: one thread drives several devices with separate
 * memory as one program.
 *
 * Their steps, in the total order of the plan, become one program (a CUDA
 * graph over all devices): calls on the streams of their units, and between
 * them direct (peer-to-peer) transfers without host memory. It is launched at
 * once, and the host does not wait in between:
 *
 *     a, streams |--a1--|-----a2-----|
 *     a, out            |~~x~~|
 *     b, streams |--b1----|   |--b2--|
 *
 * A value between two of them is copied by their backend; one from or to
 * another process by the transport's carrier. Other transfers are staged
 * through host memory as for devices with a thread each
 * (exec/runtime/device/device_run.c): there the program is cut in two segments,
 * and the devices wait.
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

/* Returns whether a carrier transfers values of the device to or from other
 * processes. After the world has begun. */
bool mo_joint_uses_carrier(const mo_run_device *device);

/* Opens the n devices, executes all runs and fetches the outputs, all from the
 * calling thread. The caller closes the devices, also on failure.
 * eager_reason: why no program was recorded, where one was wanted; else "".
 * chain_ns: as in mo_run_result. */
mo_status mo_joint_run_devices(mo_run_device *const *devices, int n,
                               char eager_reason[MO_RUN_REASON_SIZE],
                               int64_t *chain_ns, mo_error *err);

#endif
