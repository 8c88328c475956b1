/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - the devices that are driven together (joint.h), or a single one,
 * with several requests at the same time.
 *
 * Each slot has a copy of the values of one request; weights and kernels are
 * shared. Devices with separate memory have workspaces and a program of all
 * calls and transfers for each slot: programs of different slots run at the
 * same time, each in queues of its own, the device schedules their kernels, and
 * transfers of one request go beside the computation of another. A device
 * without works on the oldest request that is ready there, call by call.
 *
 * A value from or to a device that is not among them goes through host memory
 * and the transport, or by a carrier within the program. Each slot has
 * transfers of its own there, so slots never wait for each other.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_SLOTS_H
#define MO_EXEC_RUNTIME_JOINT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/device/run_options.h"

typedef struct mo_joint_slots mo_joint_slots;

typedef struct mo_joint_slots_options {
    const mo_run_plan_options *run; /* outlives the slots, as does the plan */
    const bool *chosen; /* by device of the plan: one without separate memory,
                           or those of mo_joint_slots_select() */
    const bool *inputs; /* by value of the plan: whether a request sets it */
    int n_slots;
    /* The transport has n_all_slots copies of each device, side by side, of
     * which these are those from first_slot on; transfer t of slot s has the
     * number (first_slot + s) * n_slot_transfers + t there. */
    int first_slot, n_all_slots;
    int n_slot_transfers;
    bool time_calls; /* with all slots at once; for one chosen device with
                        separate memory */
} mo_joint_slots_options;

typedef struct mo_joint_slots_device {
    int64_t load_ns; /* its calls, each alone on the device, in sum; without
                        separate memory 0, as it is measured in each run */
    int64_t slot_bytes, shared_bytes; /* allocated for a slot, and for all */
} mo_joint_slots_device;

/* Selects the devices of this rank with separate memory that can be driven so:
 * fills chosen, by device of the plan, and returns their number. */
int mo_joint_slots_select(const mo_exec_plan *plan,
                          const mo_run_plan_options *options, bool *chosen);

/* Opens the chosen devices; with separate memory, runs once call by call,
 * measures the calls and records the programs. Collective over the ranks with a
 * carrier. Fails with MO_E_SUPPORT where the driver records none. The caller
 * frees *slots. */
mo_status mo_joint_slots_new(const mo_exec_plan *plan,
                             const mo_joint_slots_options *options,
                             mo_joint_slots **slots, mo_error *err);
void mo_joint_slots_free(mo_joint_slots *slots); /* NULL is allowed */

/* Frees the programs and ends the use of carriers, while no slot runs; from any
 * thread. Carriers need it before they disconnect, which is before
 * mo_joint_slots_free(). */
void mo_joint_slots_free_programs(mo_joint_slots *slots);

/* The buffers of a slot in host memory, owned by slots: of a value that a
 * request sets, to be written before a run; and of an output of the plan after
 * it. NULL: not of these devices. */
void *mo_joint_slots_input(const mo_joint_slots *slots, int slot, int value);
const void *mo_joint_slots_output(const mo_joint_slots *slots, int slot,
                                  int output);

/* What a request has had of the devices. */
typedef struct mo_joint_slots_run_result {
    int64_t busy_ns;  /* of a device without separate memory: time in calls */
    mo_error failure; /* of a call there: the request has failed, not the run */
} mo_joint_slots_run_result;

/* Runs one request, of a phase of the plan; result begins as zeros. From any
 * thread, one at a time for each slot. */
mo_status mo_joint_slots_run(mo_joint_slots *slots, int slot, int64_t request,
                             int phase, mo_joint_slots_run_result *result,
                             mo_error *err);

/* Set the states of slot 0, which begin as zeros, from the files of a folder,
 * or write them there: state.NAME.npy for each state of these devices. While no
 * slot runs. */
mo_status mo_joint_slots_load_states(mo_joint_slots *slots, const char *folder,
                                     mo_error *err);
mo_status mo_joint_slots_save_states(mo_joint_slots *slots, const char *folder,
                                     mo_error *err);

/* Returns the load of each call of the plan, if it was to be measured, or NULL:
 * the time that it takes of the device with all slots in flight. slots owns it.
 */
const int64_t *mo_joint_slots_call_loads(const mo_joint_slots *slots);

/* Returns what is known of a chosen device; slots owns it. */
const mo_joint_slots_device *
mo_joint_slots_device_of(const mo_joint_slots *slots, int device);

#endif
