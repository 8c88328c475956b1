/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_joint.h - devices with memory apart that one thread drives together.
 *
 * Their steps, in the total order of the plan, become one program: calls on the
 * lanes of their units, and between them transfers that no memory of the
 * process is needed for.  It is begun at once, and nobody waits in between:
 *
 *     a, lanes   |--a1--|-----a2-----|
 *     a, out            |~~x~~|
 *     b, lanes   |--b1----|   |--b2--|
 *
 * A value between two of them is copied by their backend; one that comes from
 * another process, or goes there, by the transport's carrier.  What nobody can
 * carry goes through memory of the process as with devices that have a thread
 * each (run_work.c): there the program is cut in two, and the devices wait.
 *
 * Nobody looks at the clock inside of a program: run_joint_times.c says what
 * the times of its steps are.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_JOINT_H
#define MO_EXEC_RUNTIME_JOINT_JOINT_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/runtime/device/device_run.h"

/* Which devices of this rank may be driven together: those of the first
 * backend that can.  By device of the plan; returns how many. */
int mo_joint_select_devices(const mo_exec_plan *plan,
                            const mo_run_plan_options *options, bool *chosen);

/* Whether something takes values of a device to other processes, or from there.
 * When the world has begun. */
bool mo_joint_uses_carrier(const mo_run_device *device);

/* For one thread: opens the devices, n of them, makes all runs and takes what
 * came out of them.  The caller closes the devices.  eager_because: why there
 * was no program, where one was wanted and could not be; else "".  chain_ns: as
 * in mo_run_result. */
mo_status mo_joint_run_devices(mo_run_device *const *devices, int n,
                               char eager_because[MO_RUN_REASON_SIZE],
                               int64_t *chain_ns, mo_error *err);

#endif
