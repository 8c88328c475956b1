/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - joint execution of several requests at the same time.
 *
 * All devices of the plan are of one backend with separate memory, in this
 * process. Each slot has a copy of their values and workspaces, and a program
 * of all its calls and transfers (joint.h); weights and kernels are shared.
 * Programs of different slots run at the same time, each in a queue of its own:
 * the device schedules their kernels, and transfers of one request go beside
 * the computation of another.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_SLOTS_H
#define MO_EXEC_RUNTIME_JOINT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/device/run_options.h"

typedef struct mo_joint_slots mo_joint_slots;

/* Returns whether all devices can be driven so; all belong to this rank. */
bool mo_joint_slots_apply(const mo_exec_plan *plan,
                          const mo_run_plan_options *options);

/* Opens all devices, runs once call by call, and records the programs. Fails
 * with MO_E_SUPPORT where the driver records none. inputs: by value of the
 * plan, whether a request sets it. plan and options outlive *slots; the caller
 * frees it. */
mo_status mo_joint_slots_new(const mo_exec_plan *plan,
                             const mo_run_plan_options *options, int n_slots,
                             const bool *inputs, mo_joint_slots **slots,
                             mo_error *err);
void mo_joint_slots_free(mo_joint_slots *slots); /* NULL is allowed */

/* Runs one request: inputs by value, as set before (NULL: none), and outputs by
 * output of the plan, where the bytes of their values are written (NULL: not).
 * From any thread, one at a time for each slot. */
mo_status mo_joint_slots_run(mo_joint_slots *slots, int slot,
                             const void *const *inputs, void *const *outputs,
                             mo_error *err);

/* While no slot runs: measures the calls of a device, each alone on it;
 * *load_ns is their sum. */
mo_status mo_joint_slots_measure(mo_joint_slots *slots, int device,
                                 int64_t *load_ns, mo_error *err);

/* Bytes that a device has allocated for a slot, and for all together. */
int64_t mo_joint_slots_bytes(const mo_joint_slots *slots, int device);
int64_t mo_joint_slots_shared_bytes(const mo_joint_slots *slots, int device);

#endif
