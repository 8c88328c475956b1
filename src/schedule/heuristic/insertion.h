/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insertion.h - a schedule that grows op by op, each put into the first gap of
 * its device that is long enough.
 *
 * What an op reads is sent through the first gaps on the way.  Who goes when,
 * and where, is for the caller to say: list schedulers differ in nothing else.
 * Pins, groups and what is resident of memory are kept.
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
#include "schedule/heuristic/edge_schedule.h"
#include "schedule/heuristic/timeline.h"
#include "schedule/placement_units.h"

/* Something an op reads that is not on its device yet. */
typedef struct mo_insertion_input {
    int item, from; /* the device that has it */
    int64_t ready_ns;
} mo_insertion_input;

typedef struct mo_insertion {
    const mo_instance *x;
    mo_regime regime;
    mo_placement_units *units;
    int *unit_device;    /* or MO_FREE */
    int64_t *room_bytes; /* by device, what units have not taken; below 0 where
                            pins alone take more than there is */
    int *device;         /* by op, of those that have been put */
    int64_t *end_ns;     /* by op, likewise */
    mo_timeline *devices;
    mo_edge_schedule sending;
    mo_insertion_input *inputs; /* of the op and device that are looked at */
    size_t n_inputs, inputs_room;
} mo_insertion;

/* x must outlive it.  Closed by mo_insertion_close, also after a failure. */
mo_status mo_insertion_open(mo_insertion *l, const mo_instance *x,
                            const mo_regime *regime, mo_error *err);
void mo_insertion_close(mo_insertion *l);

/* Its pin, its group and memory allow it. */
bool mo_insertion_is_allowed(const mo_insertion *l, int op, int device);

/* The device that pin or group leave to op, or MO_FREE. */
int mo_insertion_fixed_device(const mo_insertion *l, int op);

/* The device for which the end of op there plus later_ns, by device (NULL: 0),
 * is least, of equals the first; MO_FREE: there is none.  Ends of what op reads
 * must be known.  later_ns is at most MO_MAX_TOTAL_NS. */
mo_status mo_insertion_best_device(mo_insertion *l, int op,
                                   const int64_t *later_ns, int *device,
                                   mo_error *err);

/* Sends what op reads, and puts op, on the device, which it may go to. */
mo_status mo_insertion_place(mo_insertion *l, int op, int device,
                             mo_error *err);

/* What has grown when all ops have been put.  Nothing in it can start earlier
 * in its order.  Whether what is alive at once fits has not been looked at. */
mo_status mo_insertion_schedule(const mo_insertion *l, mo_schedule **schedule,
                                mo_error *err);

#endif
