/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - least times, told from op to op along the flows: forward, from
 * what an op reads to it; backward, from its readers to it.
 */
#ifndef MO_SCHEDULE_BOUND_HEAD_TAIL_H
#define MO_SCHEDULE_BOUND_HEAD_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/allowed_devices.h"

typedef struct mo_head_tail {
    const mo_allowed_devices *places;
    bool backward;
    int64_t *side; /* by op and device: the least time until op starts there,
                      or, backward, since it has ended */
    int64_t *at;   /* by device, for those below */
} mo_head_tail;

/* op's side and its own time on the device. */
int64_t mo_head_tail_with_p(const mo_head_tail *pass, int op, int device);

/* Raises *value to least, or leaves it. */
void mo_head_tail_raise(int64_t *value, int64_t least);

/* Raises the sides of those at the other ends of op's flows to what its own
 * mean for them.  Only where they may run; the others are left alone. */
void mo_head_tail_propagate(mo_head_tail *pass, int op);

/* The same from time 0 at the end of op, or backward its start, on one device.
 */
void mo_head_tail_propagate_from(mo_head_tail *pass, int op, int device);

#endif
