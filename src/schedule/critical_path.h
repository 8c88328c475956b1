/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_path.h - critical path of a schedule: the chain of ops and transfers
 * that ends with the makespan, each of which starts when the one before ends.
 *
 * The one before is an input, or what the device, port, channel or link was
 * busy with.  Along the path of a left-shifted schedule there are no gaps; in
 * one that waits for memory there may be.
 */
#ifndef MO_SCHEDULE_CRITICAL_PATH_H
#define MO_SCHEDULE_CRITICAL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

/* Why an item of the path starts when it does. */
typedef enum mo_path_reason {
    MO_PATH_FIRST,  /* nothing is before it */
    MO_PATH_INPUT,  /* the one before is its input */
    MO_PATH_DEVICE, /* the one before occupied the device */
    MO_PATH_TRAFFIC /* the one before occupied a port, channel or link */
} mo_path_reason;

typedef struct mo_path_item {
    bool is_transfer;
    int id; /* op, or index in the schedule's transfers */
    mo_path_reason reason;
    int64_t gap_ns; /* from the end of the one before */
} mo_path_item;

typedef struct mo_critical_path {
    int n;
    mo_path_item *items; /* the first first; owned */
} mo_critical_path;

/* Finds the critical path of a valid schedule; of several, one, the same every
 * time.  *path begins as zeros; the caller clears it, also after a failure,
 * which is lack of memory only.  O(N log N) for N ops, flows and resources held
 * by transfers. */
mo_status mo_critical_path_find(const mo_instance *x, const mo_schedule *s,
                                mo_critical_path *path, mo_error *err);
void mo_critical_path_clear(mo_critical_path *path);

#endif
