/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insertion.h - insertion-based list scheduling: a partial schedule that grows
 * op by op, each in the first gap of its device that is long enough.
 *
 * The inputs of an op take the first gaps on their route.  The caller chooses
 * the order and the devices: list schedulers differ in nothing else.  Pins,
 * groups and resident memory are respected.
 */
#ifndef MO_SCHEDULE_HEURISTIC_INSERTION_H
#define MO_SCHEDULE_HEURISTIC_INSERTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "schedule/placement_units.h"

/*
 * Timeline of a unary resource (device, port, channel or link): busy spans and
 * gaps.
 *
 * A timeline of zeros is free for ever.  The caller frees its arrays with
 * mo_timeline_clear.
 */

typedef struct mo_timeline_span {
    int64_t from_ns, to_ns;
} mo_timeline_span;

/* Two views of the same, both sorted: what takes time is placed in a gap; what
 * takes none waits for the end of the busy span that it would interrupt. */
typedef struct mo_timeline {
    mo_timeline_span *busy;
    size_t n_busy, busy_room;
    mo_timeline_span *gaps; /* of positive length; the last one never ends */
    size_t n_gaps, gaps_room;
} mo_timeline;

/* Undo record of one insertion. */
typedef struct mo_timeline_change {
    size_t gap, busy; /* indices */
    mo_timeline_span old_gap;
    int n_new_gaps; /* that replaced it; -1: nothing changed */
} mo_timeline_change;

void mo_timeline_clear(mo_timeline *t);

/* Returns the earliest start, at or after ready_ns, for something of that
 * length.  With length 0 it may lie where a span ends or begins, but not
 * within. */
int64_t mo_timeline_earliest(const mo_timeline *t, int64_t ready_ns,
                             int64_t length_ns);

/* Occupies the span, which must be free; a later insertion will not cover
 * something of length 0 either. */
mo_status mo_timeline_insert(mo_timeline *t, int64_t start_ns,
                             int64_t length_ns, mo_timeline_change *change,
                             mo_error *err);

/* Undoes the last insertion that has not been undone. */
void mo_timeline_undo(mo_timeline *t, const mo_timeline_change *change);

/*
 * Edge scheduling: the transfers of a partial schedule, by insertion into the
 * timelines of ports, channels or links.  A transfer takes the first gap that
 * is long enough on all its resources at once.  Insertions are tentative until
 * committed and can be rolled back, last first.
 */

typedef struct mo_edge_schedule_entry {
    mo_transfer transfer;
    int previous; /* previous transfer of the same item, or -1 */
} mo_edge_schedule_entry;

typedef struct mo_edge_schedule_change {
    int resource;
    mo_timeline_change change;
} mo_edge_schedule_change;

typedef struct mo_edge_schedule {
    const mo_instance *x;
    mo_regime regime;
    int n_resources;
    mo_timeline *resources;
    int *last_entry; /* by item: its last transfer, or -1 */
    mo_edge_schedule_entry *entries;
    size_t n_entries, entries_room;
    mo_edge_schedule_change
        *changes; /* of tentative transfers, in the same order */
    size_t n_changes, changes_room;
} mo_edge_schedule;

/* An input of an op that is not on its device yet. */
typedef struct mo_insertion_input {
    int item, from; /* the device that has it */
    int64_t ready_ns;
} mo_insertion_input;

typedef struct mo_insertion {
    const mo_instance *x;
    mo_regime regime;
    mo_placement_units *units;
    int *unit_device;    /* by unit, or MO_FREE */
    int64_t *room_bytes; /* by device: capacity left by the placed units; below
                            0 where pins alone exceed it */
    int *device;         /* by op, of those placed */
    int64_t *end_ns;     /* by op, likewise */
    mo_timeline *devices;
    mo_edge_schedule edges;
    mo_insertion_input
        *inputs; /* scratch: of the op and device under evaluation */
    size_t n_inputs, inputs_room;
} mo_insertion;

/* x must outlive it.  The caller closes it with mo_insertion_close(), also
 * after a failure. */
mo_status mo_insertion_open(mo_insertion *l, const mo_instance *x,
                            const mo_regime *regime, mo_error *err);
void mo_insertion_close(mo_insertion *l);

/* Returns whether pin, group and memory allow op on the device. */
bool mo_insertion_is_allowed(const mo_insertion *l, int op, int device);

/* Returns the device that pin or group leave to op, or MO_FREE. */
int mo_insertion_fixed_device(const mo_insertion *l, int op);

/* Sets *device to the allowed device with the least end of op plus later_ns,
 * by device (NULL: 0), of equals the first; MO_FREE where none is allowed.
 * The producers of op must be placed.  later_ns is at most MO_MAX_TOTAL_NS. */
mo_status mo_insertion_best_device(mo_insertion *l, int op,
                                   const int64_t *later_ns, int *device,
                                   mo_error *err);

/* Places op on the device, which must be allowed, and schedules the transfers
 * of its inputs. */
mo_status mo_insertion_place(mo_insertion *l, int op, int device,
                             mo_error *err);

/* Makes the schedule once all ops are placed; the caller frees *schedule.
 * Nothing in it can start earlier in its order.  Live memory is not
 * checked. */
mo_status mo_insertion_schedule(const mo_insertion *l, mo_schedule **schedule,
                                mo_error *err);

#endif
