/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint_internal.h - data of joint execution, shared by its files.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_JOINT_INTERNAL_H
#define MO_EXEC_RUNTIME_JOINT_JOINT_INTERNAL_H

#include "exec/runtime/joint/joint.h"
#include "exec/runtime/device/device_run_internal.h"

enum { MO_JOINT_NONE = -1 };

/* Tracks of a device, on which calls are sequential: its streams, then its
 * ports. */
enum {
    MO_JOINT_TRACK_OUT = MO_PLAN_MAX_STREAMS,
    MO_JOINT_TRACK_IN,
    MO_JOINT_TRACK_COUNT
};

typedef enum mo_joint_item_kind {
    MO_JOINT_ITEM_CALL,
    MO_JOINT_ITEM_TRANSFER, /* both ends of it, or the local one */
    MO_JOINT_ITEM_AWAIT,    /* of a direct transfer: no work, but order */
    MO_JOINT_ITEM_STAGED    /* one end of a staged transfer */
} mo_joint_item_kind;

/* A step of one device, or a send and its receive, in the total order. */
typedef struct mo_joint_item {
    mo_joint_item_kind kind;
    int local, action;       /* the device among the local ones, and its step */
    int to_local, to_action; /* the receiving end, where it is local, too */
    int call;                /* index in calls, or MO_JOINT_NONE */
    mo_backend_transfer transfer;
} mo_joint_item;

/* Items launched at once, or one host step. */
typedef struct mo_joint_segment {
    bool is_host;
    int first, n;                 /* items */
    int first_call, n_calls;      /* calls[first_call] and on */
    mo_backend_program *recorded; /* or NULL: not yet, or nothing to do */
} mo_joint_segment;

typedef struct mo_joint_state {
    const mo_exec_plan *plan;
    const mo_run_plan_options *options;
    const mo_backend *backend;
    mo_run_device *const *devices; /* the local ones */
    int n_local;
    int n_slots;   /* of a stream of requests: the transport has so many copies
                      of each device, side by side; 0: one */
    int *local_of; /* by device of the plan: index among the local ones, or
                      MO_JOINT_NONE */
    bool *carried; /* by transfer: direct, no local end is staged */
    /* By device of the plan; NULL: not local. */
    mo_backend_unit **units;
    const mo_backend_carrier **carriers; /* of all transfers, each once */
    int n_carriers;
    mo_joint_item *items;
    mo_backend_program_call *calls;
    /* By call: its track, numbered over all local devices. */
    int *tracks;
    mo_joint_segment *segments;
    int n_items, n_calls, n_segments;
    int64_t *isolated_ns; /* by call, in isolation */
    bool are_recorded;
    /* Buffer of MO_RUN_REASON_SIZE, of the caller; "": programs are used. */
    char *eager_reason;
    mo_arena *arena; /* of all arrays of this struct */
} mo_joint_state;

/* Returns the carrier of a transfer with one end in another process, or
 * NULL. */
const mo_backend_carrier *
mo_joint_find_carrier(const mo_run_plan_options *options, int transfer);

/* Makes the unit current for the calling thread. */
mo_status mo_joint_activate_unit(mo_joint_state *j, int local, mo_error *err);

/* Allocates the arena, and the arrays by device and by transfer; numbers the
 * local devices. The caller frees the arena, also after a failure. */
mo_status mo_joint_alloc_state(mo_joint_state *j, mo_error *err);

/* The same, then opens the devices, connects the carriers, and merges the steps
 * into calls with dependencies. */
mo_status mo_joint_open(mo_joint_state *j, mo_error *err);

/* Merges all steps into one order, cut into segments; all devices are open. */
mo_status mo_joint_linearize(mo_joint_state *j, mo_error *err);

/* Creates the calls of all segments with their dependencies. */
mo_status mo_joint_find_dependencies(mo_joint_state *j, mo_error *err);

/* One run; rows: timestamps of each local device. */
mo_status mo_joint_execute(mo_joint_state *j, int64_t *const *rows,
                           mo_error *err);
/* Waits until the unit is idle; fails when the other end of a direct transfer
 * is lost. */
mo_status mo_joint_synchronize(mo_joint_state *j, int local, mo_error *err);

/* One run of the calls alone, without other ranks: values that come from
 * elsewhere are zeros, which are valid as indices. */
mo_status mo_joint_warm_up(mo_joint_state *j, mo_error *err);

/* Polls all carriers: an error when the other end of one has failed. */
mo_status mo_joint_poll_carriers(const mo_joint_state *j, mo_error *err);

/* Records a program for every segment; fails where the driver cannot, with
 * nothing recorded. The caller frees them with mo_joint_free_programs(). */
mo_status mo_joint_record_programs(mo_joint_state *j, mo_error *err);
void mo_joint_free_programs(mo_joint_state *j);

/* Measures calls in isolation, after all runs, and computes the steps' times
 * of every run from that. *chain_ns, as in mo_run_result, is set only where
 * there is one. */
mo_status mo_joint_step_times(mo_joint_state *j, int64_t *chain_ns,
                              mo_error *err);

#endif
