/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - where every op runs and when, and what is sent meanwhile.
 *
 * A schedule begins with a placement, which decides what has to be sent.  Start
 * times are filled in by whoever made the placement; they are claims, and
 * mo_schedule_left_shift keeps nothing of them but the order.
 */
#ifndef MO_SCHEDULE_SCHEDULE_H
#define MO_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* Something that goes from one device to another: a flow, or, with tensors
 * once, a tensor for all its readers on the target. */
typedef struct mo_transfer {
    int item;     /* the flow's or tensor's number in the instance */
    int from, to; /* devices, never equal */
    int64_t start_ns, end_ns;
} mo_transfer;

typedef struct mo_schedule {
    mo_regime regime;
    int n;             /* ops, as in the instance */
    int *device;       /* by op */
    int64_t *start_ns; /* by op; its time is the instance's */
    int n_transfers;
    mo_transfer *transfers; /* sorted by item, then target */
    int64_t makespan_ns;    /* when the last op has ended */
} mo_schedule;

/* A schedule for the placement (a device for each op), with the transfers it
 * needs; all starts are 0. */
mo_status mo_schedule_new(const mo_instance *x, const mo_regime *regime,
                          const int *device, mo_schedule **schedule,
                          mo_error *err);
void mo_schedule_free(mo_schedule *schedule);

/* Another one like it, times and all. */
mo_status mo_schedule_copy(const mo_instance *x, const mo_schedule *s,
                           mo_schedule **copy, mo_error *err);

/* The transfer of an item to a device, or NULL. */
mo_transfer *mo_schedule_transfer(const mo_schedule *s, int item, int to);

/* How long an item takes from a to b in this regime. */
int64_t mo_schedule_item_ns(const mo_instance *x, const mo_regime *regime,
                            int item, int a, int b);

/*
 * Left-shift: keeps on every device, port, channel or link the order of the
 * start times and lets everything start as early as that order allows.  Ties
 * go by precedence, then by number.  What takes no time still waits for a busy
 * device or port.
 *
 * MO_E_INPUT when the order contradicts the graph: an op that starts before
 * what it reads was there.
 */
mo_status mo_schedule_left_shift(const mo_instance *x, mo_schedule *s,
                                 mo_error *err);

/* The memory each device needs at most, in the schedule's memory model
 * (static sums with MO_MEMORY_NONE); peak has a place for each device. */
mo_status mo_schedule_peak_memory(const mo_instance *x, const mo_schedule *s,
                                  int64_t *peak_bytes, mo_error *err);

/* Whether every device has that much; with MO_MEMORY_NONE it always has. */
mo_status mo_schedule_fits_memory(const mo_instance *x, const mo_schedule *s,
                                  bool *fits, mo_error *err);

#endif
