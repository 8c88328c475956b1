/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allowed_devices.h - the devices on which an op may run at all: the initial
 * domains of the assignment variables.
 */
#ifndef MO_SCHEDULE_ALLOWED_DEVICES_H
#define MO_SCHEDULE_ALLOWED_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* A view: the caller owns and frees allowed, a buffer of n ops times
 * n_devices. */
typedef struct mo_allowed_devices {
    const mo_instance *x;
    mo_regime regime;
    bool *allowed; /* by op and device, mo_allowed_devices_index */
} mo_allowed_devices;

static inline int64_t mo_allowed_devices_index(const mo_allowed_devices *p,
                                               int op, int device)
{
    return (int64_t) op * p->x->n_devices + device;
}

static inline bool mo_allowed_devices_has(const mo_allowed_devices *p, int op,
                                          int device)
{
    return p->allowed[mo_allowed_devices_index(p, op, device)];
}

/* Fills allowed by pins and by the memory that an op or its group needs on a
 * device that is otherwise empty.  Ops of a group get the same devices.  An op
 * with no device left keeps those of its pin: then no schedule exists. Fails
 * only when memory cannot be allocated. */
mo_status mo_allowed_devices_find(mo_allowed_devices *p, mo_error *err);

/* Resets the devices of op to those of its pin (all where it has none). */
void mo_allowed_devices_reset_to_pin(mo_allowed_devices *p, int op);

/* Returns the bytes that op occupies on its device for the whole run: its
 * memory, its weights (MO_MEMORY_LIVE) or 0 (MO_MEMORY_NONE). */
int64_t mo_regime_resident_bytes(const mo_instance *x, mo_memory memory,
                                 int op);

static inline int64_t
mo_allowed_devices_resident_bytes(const mo_allowed_devices *p, int op)
{
    return mo_regime_resident_bytes(p->x, p->regime.memory, op);
}

#endif
