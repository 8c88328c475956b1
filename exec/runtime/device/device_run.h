/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_device.h - one device of a plan while it runs.
 *
 * Everything is prepared and allocated first; from then on a run is a walk over
 * an array of actions, with a look at the clock before and after each.
 *
 * A unit may have memory apart, which this process cannot read.  Then constants
 * are put there once and inputs before every run; what is sent and received
 * goes through memory of the process (staging); and the calls between two
 * transfers are one program, begun at once (run_programs.h).
 */
#ifndef MO_EXEC_RUNTIME_DEVICE_DEVICE_RUN_H
#define MO_EXEC_RUNTIME_DEVICE_DEVICE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/device/run_options.h"

/* A step, with all it needs at hand. */
typedef struct mo_run_action {
    mo_plan_step_kind kind;
    int what;     /* call or transfer */
    bool sending; /* which end of the transfer is ours */
    mo_backend_kernel *kernel;
    size_t workspace_bytes;
    const void **in;
    void **out;
    void *data;   /* what is sent or received, in memory of the process */
    void *value;  /* the same where the unit has it */
    size_t bytes; /* of both */
} mo_run_action;

/* Calls that follow each other without a transfer in between. */
typedef struct mo_run_program {
    int first, n; /* actions */
    mo_backend_program_call *calls;
    mo_backend_program *recorded; /* or NULL: not yet */
} mo_run_program;

/* The moments of a run: when it began, then when each action began and when it
 * ended, and when all was over.  What lies between an end and the next
 * beginning is our own work. */
static inline size_t mo_run_timestamp_count(int n_actions)
{
    return 2 * (size_t) n_actions + 2;
}

static inline size_t mo_run_timestamp_step_begin(int action)
{
    return 2 * (size_t) action + 1;
}

static inline size_t mo_run_timestamp_step_end(int action)
{
    return 2 * (size_t) action + 2;
}

static inline size_t mo_run_timestamp_run_end(int n_actions)
{
    return 2 * (size_t) n_actions + 1;
}

typedef struct mo_run_device {
    const mo_exec_plan *plan;
    const mo_run_plan_options *options;
    int device; /* MO_PLAN_NONE: of a rank that has none, and only keeps step */
    const bool *carried; /* by transfer: this device's end does not go through
                            memory of the process; NULL: all do */

    int64_t told_ns; /* when the last part of its start was over */

    const mo_backend *backend;
    mo_backend_unit *unit;
    char *memory; /* for values */
    void *workspaces[MO_PLAN_MAX_STREAMS];
    int64_t workspace_bytes, allocated_bytes;
    mo_run_action *actions;
    int n_actions;
    void **where;           /* by value of this device: its bytes */
    const void **constants; /* by value: its bytes in the process, or NULL */
    const void **inputs;    /* the same, as they lie when a run begins */
    void **copies;      /* of inputs and constants, where they cannot be used
                           as they are */
    void **unit_copies; /* of constants, in memory that is not apart */
    int n_copies, n_unit_copies;
    mo_arena *arena; /* of the lists of pointers */

    /* Where memory is apart. */
    char *weights; /* constants that some kernel reads as they are */
    char *staging;
    mo_run_program *programs;
    int n_programs;
    bool are_recorded;
    void **fetched;     /* by value: a copy of what the last run left */
    int64_t *by_itself; /* by action: how long its call takes with nothing else
                           on the device; where something is carried, from when
                           both ends began; NULL: the stamps tell */

    int64_t *stamps; /* by timed run: the moments above */
    int64_t *warm_up_stamps;
    int n_runs; /* timed ones that were made */
} mo_run_device;

/* For the thread that will run it; whatever comes of it, close it. */
mo_status mo_run_device_open(mo_run_device *device, mo_error *err);

/* Warm-ups and runs, together with all other devices. */
mo_status mo_run_device_execute(mo_run_device *device, mo_error *err);

/* From any thread, when all devices of the process have ended. */
void mo_run_device_close(mo_run_device *device);

/* The moments of timed run r. */
int64_t *mo_run_device_timestamps(const mo_run_device *device, int r);

/* The bytes of an output of the network that it has, as the last run left
 * them. */
const void *mo_run_device_output(const mo_run_device *device, int value);

#endif
