/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - who may run where, whatever the time.
 */
#ifndef MO_SCHEDULE_ALLOWED_DEVICES_H
#define MO_SCHEDULE_ALLOWED_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* A view: allowed belongs to whoever made it. */
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

/* Fills allowed by pins, and by what does not fit a device all by itself.  Ops
 * of a group are allowed the same devices.  An op that nothing is left for
 * keeps what its pin says: then no schedule exists. */
mo_status mo_allowed_devices_find(mo_allowed_devices *p, mo_error *err);

/* An op's devices become what its pin says. */
void mo_allowed_devices_reset_to_pin(mo_allowed_devices *p, int op);

/* What op takes of a device for good, wherever it is. */
int64_t mo_regime_resident_bytes(const mo_instance *x, mo_memory memory,
                                 int op);

static inline int64_t
mo_allowed_devices_resident_bytes(const mo_allowed_devices *p, int op)
{
    return mo_regime_resident_bytes(p->x, p->regime.memory, op);
}

#endif
