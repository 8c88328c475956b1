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
typedef struct mo_places {
    const mo_instance *x;
    mo_regime regime;
    bool *allowed; /* by op and device, mo_places_at */
} mo_places;

static inline int64_t mo_places_at(const mo_places *p, int op, int device)
{
    return (int64_t) op * p->x->n_devices + device;
}

static inline bool mo_places_allowed(const mo_places *p, int op, int device)
{
    return p->allowed[mo_places_at(p, op, device)];
}

/* Fills allowed by pins, and by what does not fit a device all by itself.  Ops
 * of a group are allowed the same devices.  An op that nothing is left for
 * keeps what its pin says: then no schedule exists. */
mo_status mo_places_find(mo_places *p, mo_error *err);

/* An op's devices become what its pin says. */
void mo_places_allow_by_pin(mo_places *p, int op);

/* What op takes of a device for good, wherever it is. */
int64_t mo_places_resident(const mo_instance *x, mo_memory memory, int op);

static inline int64_t mo_places_bytes(const mo_places *p, int op)
{
    return mo_places_resident(p->x, p->regime.memory, op);
}

#endif
