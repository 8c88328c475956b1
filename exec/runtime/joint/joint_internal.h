/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint_internal.h - devices that one thread drives and the run loop, shared by
 * the files of this folder.
 */
#ifndef MO_EXEC_RUNTIME_JOINT_JOINT_INTERNAL_H
#define MO_EXEC_RUNTIME_JOINT_JOINT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/runtime/device/device_run_internal.h"
#include "exec/runtime/joint/joint.h"

enum { MO_JOINT_NONE = -1 };

/* The local device that records, launches and waits for programs. */
enum { MO_JOINT_RECORDER = 0 };

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
    MO_JOINT_ITEM_HOST      /* a step that the host does: a call without
                               separate memory, one end of a transfer that is
                               not direct */
} mo_joint_item_kind;

/* A step of one device, or a send and its receive, in the total order. */
typedef struct mo_joint_item {
    mo_joint_item_kind kind;
    int local, action;       /* the device among the local ones, and its step */
    int to_local, to_action; /* the receiving end, where it is local, too */
    int call;                /* index in calls, or MO_JOINT_NONE */
    mo_backend_transfer transfer;
} mo_joint_item;

/* Items launched at once, or steps of the host. */
typedef struct mo_joint_segment {
    bool is_host;
    int phase;                    /* of the plan, whose runs it is part of */
    int first, n;                 /* items */
    int first_call, n_calls;      /* calls[first_call] and on */
    mo_backend_program *recorded; /* or NULL: not yet, or nothing to do */
    int64_t begin_ns;             /* of the last timed launch */
} mo_joint_segment;

/*
 * device_gate.c: priority lock of a device: one slot computes at a time, the
 * one with the oldest request first. Ownership is handed over by the releasing
 * thread, so that a younger request never overtakes a waiting older one. The
 * caller owns the struct.
 */
typedef struct mo_joint_gate {
    pthread_mutex_t lock;
    pthread_cond_t *turns; /* by slot */
    int64_t *waiting;      /* by slot: its request; INT64_MAX: does not wait */
    int n_slots;
    int owner;              /* a slot; -1: free */
    _Atomic int64_t oldest; /* of waiting */
} mo_joint_gate;

/* The gate begins as zeros and is destroyed by the caller, also after a failed
 * init. */
mo_status mo_joint_gate_init(mo_joint_gate *gate, int n_slots, mo_error *err);
void mo_joint_gate_destroy(mo_joint_gate *gate);

/* Blocks until the slot owns the device; called by the thread of the slot, as
 * are the others. */
void mo_joint_gate_enter(mo_joint_gate *gate, int slot, int64_t request);
void mo_joint_gate_leave(mo_joint_gate *gate);

/* Hands the device to an older request that waits, and blocks until the slot
 * owns it again; returns whether there was one. Otherwise it costs one atomic
 * load. */
bool mo_joint_gate_yield(mo_joint_gate *gate, int slot, int64_t request);

typedef struct mo_joint_state {
    const mo_exec_plan *plan;
    const mo_run_plan_options *options;
    const mo_backend *backend;     /* NULL: of a rank without devices */
    mo_run_device *const *devices; /* the local ones */
    int n_local;
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

    /* Of a slot of a stream of requests (slots.h); else zeros: */
    int n_slots; /* the transport has so many copies of each device, side by
                    side; 0: one */
    int slot;
    int first_transfer;      /* transfer t of the plan is first_transfer + t of
                                the transport */
    mo_backend_queue *queue; /* of all copies and programs; NULL: those of the
                                units are used */
    mo_joint_gate *gate;     /* of a device whose slots share its unit, or
                                NULL */
} mo_joint_state;

/* One request: a run of all steps. The caller sets the first members. */
typedef struct mo_joint_request {
    int64_t number;       /* at the gate, lower numbers come first */
    int phase;            /* of the plan */
    int64_t *const *rows; /* by local device: its timestamps of this run; NULL:
                             not timed */
    mo_error *failure;    /* begins as zeros: why a call failed, after which no
                             other call is run, but all transfers. NULL: a failed
                             call is an error of mo_joint_execute() */
    int64_t busy_ns;      /* time for which it had the device, with a gate */

    bool owns_device; /* as of the gate */
    int64_t entered_ns;
    int n_complete; /* segments known to be complete */
    int64_t end_ns; /* of the last timed step */
} mo_joint_request;

/* joint_open.c */

/* Returns the carrier of a transfer with one end in another process, or
 * NULL. */
const mo_backend_carrier *
mo_joint_find_carrier(const mo_run_plan_options *options, int transfer);

/* Makes the unit current for the calling thread. */
mo_status mo_joint_activate_unit(mo_joint_state *j, int local, mo_error *err);

/* Allocates the arena, and the arrays by device and by transfer; numbers the
 * local devices. The caller frees the arena, also after a failure. */
mo_status mo_joint_alloc_state(mo_joint_state *j, mo_error *err);

/* The same, then opens the devices, connects the carriers, and merges the
 * steps. */
mo_status mo_joint_open(mo_joint_state *j, mo_error *err);

/* Merges all steps into one order, cut into segments, and creates their calls
 * with dependencies; all devices are open. */
mo_status mo_joint_merge_steps(mo_joint_state *j, mo_error *err);

/* The first half of it: items and segments. */
mo_status mo_joint_linearize(mo_joint_state *j, mo_error *err);

/* dependencies.c */

/* Creates the calls of all segments with their dependencies. */
mo_status mo_joint_find_dependencies(mo_joint_state *j, mo_error *err);

/*
 * Interval map of the last accesses to the bytes of a device, for hazard
 * detection:
 *
 *     bytes   0         1024           4096      6144
 *     ranges  |  wrote: |  wrote: xfer  |  wrote:  |  none ...
 *             |  call 3 |  12; read:    |  call 7  |
 *             |         |  call 15      |          |
 */

/* The last calls of each stream, and of the device's outgoing and incoming
 * direct transfers; MO_JOINT_NONE: none. */
typedef struct mo_joint_access_range {
    int64_t begin, end;
    int wrote[MO_JOINT_TRACK_COUNT], read[MO_JOINT_TRACK_COUNT];
} mo_joint_access_range;

/* All bytes in order; starts zeroed. The caller frees it with
 * mo_joint_access_map_clear(). */
typedef struct mo_joint_access_map {
    mo_joint_access_range *ranges;
    size_t n, room;
} mo_joint_access_map;

/* Splits the map at begin and end: *first and *n are the ranges of just these
 * bytes, valid until the next split; none for an empty interval. */
mo_status mo_joint_access_map_split(mo_joint_access_map *bytes, int64_t begin,
                                    int64_t end, mo_joint_access_range **first,
                                    size_t *n, mo_error *err);

/* Merges n ranges from first on into one without accesses, which bounds their
 * number. */
void mo_joint_access_map_merge(mo_joint_access_map *bytes,
                               mo_joint_access_range *first, size_t n);
void mo_joint_access_map_clear(mo_joint_access_map *bytes);

/* run_loop.c */

/* Whether the devices have separate memory, and run programs. */
bool mo_joint_has_separate_memory(const mo_joint_state *j);

/* Runs a request on all devices. With a queue, work may still be in it. */
mo_status mo_joint_execute(mo_joint_state *j, mo_joint_request *r,
                           mo_error *err);
/* Waits until the unit is idle; fails when the other end of a direct transfer
 * is lost. */
mo_status mo_joint_synchronize(mo_joint_state *j, int local, mo_error *err);

/* Waits until the queue is empty, likewise. */
mo_status mo_joint_wait_queue(mo_joint_state *j, mo_error *err);

/* One run of the calls of a phase alone, without other ranks: values that come
 * from elsewhere are zeros, which are valid as indices. */
mo_status mo_joint_warm_up(mo_joint_state *j, int phase, mo_error *err);

/* Polls all carriers: an error when the other end of one has failed. */
mo_status mo_joint_poll_carriers(const mo_joint_state *j, mo_error *err);

/* Records a program for every segment; fails where the driver cannot, with
 * nothing recorded. The caller frees them with mo_joint_free_programs(). */
mo_status mo_joint_record_programs(mo_joint_state *j, mo_error *err);
void mo_joint_free_programs(mo_joint_state *j);

/* step_times.c */

/* Measures calls in isolation, after all runs, and computes the steps' times
 * of every run from that. *chain_ns, as in mo_run_result, is set only where
 * there is one. */
mo_status mo_joint_step_times(mo_joint_state *j, int64_t *chain_ns,
                              mo_error *err);

/* The calls of one local device: fills isolated_ns of the device. */
mo_status mo_joint_time_calls(const mo_joint_state *j, int local,
                              mo_error *err);

/* Timer overhead: on a GPU a timestamp between two kernels makes the second one
 * wait until the first has left, where it would have been launching already:
 * 5 us on an H200, 8 in a part of one, whatever the kernels do. Times of calls
 * with a timestamp behind each are therefore corrected by the time of all of
 * them without any: subtracts the same overhead from each of n times, none of
 * them negative, until they sum up to whole; but leaves each a quarter of its
 * even share. Times with a sum of whole or less stay unchanged. */
void mo_joint_remove_timer_overhead(int64_t *ns, int n, int64_t whole);

#endif
