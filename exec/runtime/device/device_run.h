/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_run.h - one device of a plan, ready to run: its unit, memory, kernels
 * and steps.
 *
 * Everything is prepared and allocated first; from then on a run iterates over
 * an array of actions (exec/runtime/joint/run_loop.c).
 *
 * A unit may have separate memory, which this process cannot access. Then
 * constants are uploaded once and inputs before every run; values sent and
 * received go through host memory (staging).
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

/* A step with its kernel and pointers. */
typedef struct mo_run_action {
    mo_plan_step_kind kind;
    int what;     /* call or transfer */
    bool sending; /* which end of the transfer this device is */
    mo_backend_kernel *kernel;
    size_t workspace_bytes;
    const void **in;
    void **out;
    void *data;   /* the sent or received bytes in host memory */
    void *value;  /* the same in the unit's memory */
    size_t bytes; /* of both */
} mo_run_action;

/* The timestamps of a run: its begin, then begin and end of each action, and
 * the end of the run. The time between an end and the next begin is overhead
 * of the runtime. */
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
    int device; /* MO_PLAN_NONE: of a rank without devices, which only takes
                   part in collective calls */
    const bool *carried; /* by transfer: this device's end is not staged through
                            host memory; NULL: all are */

    int64_t phase_end_ns; /* when the last phase of its start ended */

    const mo_backend *backend;
    mo_backend_unit *unit;
    char *memory; /* for values */
    void *workspaces[MO_PLAN_MAX_STREAMS];
    int64_t workspace_bytes, allocated_bytes;
    int64_t slot_bytes; /* of allocated_bytes: those of values */
    bool shares_unit;   /* a slot: all but memory, staging, where, actions, and
                           arena is that of another */
    mo_run_action *actions;
    int n_actions;
    void **where;           /* by value of this device: its bytes */
    const void **constants; /* by value: its bytes in host memory, or NULL */
    const void *
        *inputs;   /* likewise, in the layout they have when a run begins */
    void **copies; /* of inputs and constants that cannot be used in place */
    void **unit_copies; /* of constants, in the unit's memory if that is not
                           separate */
    int n_copies, n_unit_copies;
    mo_arena *arena; /* of the pointer arrays */

    /* Only with separate memory: */
    char *weights; /* constants that kernels read unpacked */
    char *staging;
    void **fetched;       /* by value: a copy of the last run's output */
    int64_t *isolated_ns; /* by action: duration of its call with nothing else
                             on the device; of a direct transfer, from when both
                             ends began; NULL: the timestamps are exact */

    int64_t *timestamps; /* by timed run, as above */
    int n_runs;          /* completed ones */
    int64_t *wait_ns;    /* by timed run: run delay of its threads */
} mo_run_device;

/* Called by the thread that will run the device; the caller closes it with
 * mo_run_device_close(), also on failure. */
mo_status mo_run_device_open(mo_run_device *device, mo_error *err);

/* Memory beside the values that a device without separate memory needs. */
typedef struct mo_run_sizes {
    int64_t weight_bytes; /* packed, or as they are */
    int64_t workspace_bytes;
} mo_run_sizes;

/* Prepares the kernels of a device of this process without packing weights;
 * options: backends and units. */
mo_status mo_run_device_sizes(const mo_exec_plan *plan,
                              const mo_run_plan_options *options, int device,
                              mo_run_sizes *sizes, mo_error *err);

/* Opens a slot: another copy of the values of a device that is open and
 * outlives it, with the same kernels and constants. Without separate memory
 * one of them may compute at a time, as they share workspaces. From the thread
 * that opened the device; slot begins as zeros, and the caller closes it first,
 * also on failure. */
mo_status mo_run_device_open_slot(const mo_run_device *device,
                                  mo_run_device *slot, mo_error *err);

/* Frees everything; from any thread, when all devices of the process have
 * ended. */
void mo_run_device_close(mo_run_device *device);

/* Returns the row of timed run r; the device owns it. */
int64_t *mo_run_device_timestamps(const mo_run_device *device, int r);

/* Returns the bytes of a network output on this device after the last run; the
 * device owns them. */
const void *mo_run_device_output(const mo_run_device *device, int value);

#endif
