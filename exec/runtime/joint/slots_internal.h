/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots_internal.h - data of the slots of devices that are driven together.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_SLOTS_INTERNAL_H
#define MO_EXEC_RUNTIME_JOINT_SLOTS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/runtime/joint/joint_internal.h"
#include "exec/runtime/joint/slots.h"

/* One slot: its devices, in the order of the plan, and their program. */
typedef struct mo_joint_slot {
    mo_run_device *devices;
    mo_run_device **local; /* pointers to them */
    mo_joint_state joint;
    char eager_reason[MO_RUN_REASON_SIZE];
    char *staging; /* separate memory: pinned; inputs, then outputs */
} mo_joint_slot;

struct mo_joint_slots {
    const mo_exec_plan *plan;
    mo_run_plan_options options; /* with units of n_slots */
    mo_backend_unit_options *units;
    const mo_backend *backend;
    mo_joint_slot *slots;
    int n_slots, n_local;
    int *device_of;     /* by local device: that of the plan */
    int *local_of;      /* by device of the plan, or MO_JOINT_NONE */
    int64_t *input_at;  /* by value that a request sets: its offset in staging,
                           or -1 */
    int64_t *output_at; /* by output, likewise */
    int64_t staging_bytes;
    mo_joint_gate gate;              /* of a device without separate memory */
    mo_joint_slots_device *measured; /* by local device */
    int64_t *call_loads; /* by call of the plan; NULL: not measured */

    /* Thread that polls the carriers, which end transfers whose other end has
     * failed: threads of slots block in queue_wait() and cannot. */
    pthread_t monitor;
    bool has_monitor;
    atomic_bool stops_monitor;
};

/* Measures the loads of the calls of a single device, which has measured them
 * in isolation (call_loads.c). Overwrites values of all slots. */
mo_status mo_joint_slots_time_calls(mo_joint_slots *slots, int64_t *load_ns,
                                    mo_error *err);

#endif
