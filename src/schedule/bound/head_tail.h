/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head_tail.h - heads and tails by op and device: forward and backward
 * propagation of earliest times along the flows.
 *
 * The head of an op on a device is a lower bound on its start there; the tail
 * (backward) is a lower bound on the time from its end to the end of the
 * schedule (Carlier, 1982).  Both are longest paths over device states with
 * the true transfer times.
 */
#ifndef MO_SCHEDULE_BOUND_HEAD_TAIL_H
#define MO_SCHEDULE_BOUND_HEAD_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "schedule/allowed_devices.h"

typedef struct mo_head_tail {
    const mo_allowed_devices *domains;
    bool backward;
    int64_t *time_ns; /* by op and device: the head, or, backward, the tail */
    int64_t *arrival_ns; /* by device: scratch buffer of the caller */
    /* Ends the propagation, unless NULL: heads and tails stay lower bounds, of
     * the flows relaxed until then. */
    const mo_stop *stop;
    int64_t work; /* since stop was polled: begins as 0 */
    bool stopped; /* begins as false */
} mo_head_tail;

/* Returns the head or tail of op on the device plus its own processing
 * time. */
int64_t mo_head_tail_with_p(const mo_head_tail *pass, int op, int device);

/* Raises *value to at least least. */
void mo_head_tail_raise(int64_t *value, int64_t least);

/* Relaxes all flows of op: raises the heads of its readers, or backward the
 * tails of its producers.  Only on allowed devices; the others are
 * unchanged. */
void mo_head_tail_propagate(mo_head_tail *pass, int op);

/* The same with op fixed to one device and time 0 at its end, or backward its
 * start. */
void mo_head_tail_propagate_from(mo_head_tail *pass, int op, int device);

#endif
