/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_state.h - a placement with the loads of all resources and the memory
 * used, updated move by move (delta evaluation).
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_LOAD_STATE_H
#define MO_SOLVERS_SEARCH_PERIOD_LOAD_STATE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/allowed_devices.h"
#include "schedule/placement_units.h"
#include "schedule/regime.h"

/* What all searches of an instance share; immutable. */
typedef struct mo_period_problem {
    const mo_instance *x;
    mo_regime regime;
    mo_placement_units *units;
    mo_allowed_devices domains; /* its buffer is owned */
    int n_resources;            /* devices first: mo_period_resource_count() */
    int host;                   /* the resource, or -1 */
} mo_period_problem;

/* The caller clears *problem, also after a failure; x outlives it. */
mo_status mo_period_problem_init(mo_period_problem *problem,
                                 const mo_instance *x, const mo_regime *regime,
                                 mo_error *err);
void mo_period_problem_clear(mo_period_problem *problem);

/* Fills device, by op: all on device k, as far as they may be there. */
void mo_period_fill_single(const mo_period_problem *problem, int k,
                           int *device);

typedef struct mo_period_state {
    const mo_period_problem *problem;
    int *device;         /* by op */
    int64_t *load_ns;    /* by resource */
    int64_t *used_bytes; /* by device */
    int *readers;        /* tensors once: by tensor and device */
    int n_transfers;     /* 0 where none is counted */
} mo_period_state;

/* The caller clears *s, also after a failure. */
mo_status mo_period_state_init(mo_period_state *s,
                               const mo_period_problem *problem, mo_error *err);
void mo_period_state_clear(mo_period_state *s);

/* Sets the placement, a device for each op, and computes all loads. */
void mo_period_state_set(mo_period_state *s, const int *device);

/* Moves all ops of a unit. */
void mo_period_state_move(mo_period_state *s, int unit, int device);

/* Return the largest load, and the bytes above the capacities. */
int64_t mo_period_state_period_ns(const mo_period_state *s);
int64_t mo_period_state_excess_bytes(const mo_period_state *s);

/* Returns the device of a unit. */
static inline int mo_period_state_device(const mo_period_state *s, int unit)
{
    const mo_placement_units *units = s->problem->units;

    return s->device[units->ops[units->start[unit]]];
}

/* Returns whether every op may be on its device. */
bool mo_period_state_is_allowed(const mo_period_state *s);

/* Sets the next placement of an enumeration by an odometer over the units,
 * which begins with device 0 for all; returns whether there was one. */
bool mo_period_state_next(mo_period_state *s);

#endif
