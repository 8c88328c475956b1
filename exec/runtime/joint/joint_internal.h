/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_joint_parts.h - the inside of run_joint.h.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_JOINT_INTERNAL_H
#define MO_EXEC_RUNTIME_JOINT_JOINT_INTERNAL_H

#include "exec/runtime/joint/joint.h"
#include "exec/runtime/device/device_run_internal.h"

enum { MO_JOINT_NONE = -1 };

/* Lanes of a seat, then its ports: tracks, where one thing follows another. */
enum {
    MO_JOINT_TRACK_OUT = MO_PLAN_MAX_STREAMS,
    MO_JOINT_TRACK_IN,
    MO_JOINT_TRACK_COUNT
};

typedef enum mo_joint_item_kind {
    MO_JOINT_ITEM_CALL,
    MO_JOINT_ITEM_TRANSFER, /* both ends of it, or the one that is here */
    MO_JOINT_ITEM_AWAIT,    /* of what is carried: no work, but order */
    MO_JOINT_ITEM_STAGED /* an end of what goes through memory of the process */
} mo_joint_item_kind;

/* A step of one device, or two that are one, in the total order. */
typedef struct mo_joint_item {
    mo_joint_item_kind kind;
    int seat, action;       /* the device among those here, and its step */
    int to_seat, to_action; /* where both ends of a carry are here */
    int call;               /* its place in calls, or MO_JOINT_NONE */
    mo_backend_transfer carry;
} mo_joint_item;

/* Items that are begun at once, or one that the process does. */
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
    mo_run_device *const *devices; /* by seat */
    int n_seats;
    int *seat_of;            /* by device of the plan, or MO_JOINT_NONE */
    bool *carried;           /* by transfer: no end here is staged */
    mo_backend_unit **units; /* by device of the plan, or NULL: elsewhere */
    const mo_backend_carrier **carriers;
    int n_carriers;
    mo_joint_item *items;
    mo_backend_program_call *calls;
    int *tracks; /* by call: the lane or port, of all seats, it goes through */
    mo_joint_segment *parts;
    int n_items, n_calls, n_parts;
    int64_t *took_ns; /* by call, with nothing beside it */
    bool are_recorded;
    char *eager_because; /* of MO_RUN_REASON_SIZE; "": programs it is */
    mo_arena *arena;
} mo_joint_state;

/* Who carries a transfer of which one end is elsewhere, or NULL: nobody. */
const mo_backend_carrier *
mo_joint_find_carrier(const mo_run_plan_options *options, int transfer);

/* From now on the thread uses this unit. */
mo_status mo_joint_activate_unit(mo_joint_state *j, int seat, mo_error *err);

/* All steps in one order, cut into parts; all devices are open.
 * run_joint_order.c */
mo_status mo_joint_linearize(mo_joint_state *j, mo_error *err);

/* The calls of all parts, and what each waits for.  run_joint_waits.c */
mo_status mo_joint_find_dependencies(mo_joint_state *j, mo_error *err);

/* One run; rows: where each seat's moments go.  run_joint_run.c */
mo_status mo_joint_execute(mo_joint_state *j, int64_t *const *rows,
                           mo_error *err);
/* Until all that was run on its unit is done, or the other end of something
 * that is carried is gone. */
mo_status mo_joint_synchronize(mo_joint_state *j, int seat, mo_error *err);
mo_status mo_joint_record_programs(mo_joint_state *j, mo_error *err);
void mo_joint_free_programs(mo_joint_state *j);

/* How long calls take by themselves, when all runs are done; the steps of every
 * run are laid out by that.  chain_ns, as in mo_run_result, is only set where
 * there is one.  run_joint_times.c */
mo_status mo_joint_step_times(mo_joint_state *j, int64_t *chain_ns,
                              mo_error *err);

#endif
