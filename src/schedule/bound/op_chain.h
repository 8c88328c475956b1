/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_chain.h - ops that come one after the other, and what lies between
 * them.
 */
#ifndef MO_SCHEDULE_BOUND_OP_CHAIN_H
#define MO_SCHEDULE_BOUND_OP_CHAIN_H

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

typedef struct mo_bound_chain {
    int n; /* segments */
    mo_bound_segment
        *segments; /* from the beginning to the end, u's behind v's */
    int *ops;      /* which theirs point into */
} mo_bound_chain;

/* Chooses a chain of which little else runs beside; only the work of ops that
 * are in none of its segments is lost to a bound. */
mo_status mo_bound_chain_find(const mo_allowed_devices *places,
                              mo_bound_chain **chain, mo_error *err);
void mo_bound_chain_free(mo_bound_chain *chain);

#endif
