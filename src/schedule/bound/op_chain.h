/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_chain.h - a chain of comparable ops and the segments between them, for
 * the chain bound.
 */
#ifndef MO_SCHEDULE_BOUND_OP_CHAIN_H
#define MO_SCHEDULE_BOUND_OP_CHAIN_H

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

typedef struct mo_bound_chain {
    int n;                      /* number of segments */
    mo_bound_segment *segments; /* from the source to the sink; the u of each is
                                   the v of the one before */
    int *ops; /* buffer that the ops of the segments point into */
} mo_bound_chain;

/* Chooses a chain with little work beside it; only the work of ops that are in
 * none of its segments is lost to the bound.  The caller frees *chain with
 * mo_bound_chain_free(), which accepts NULL. */
mo_status mo_bound_chain_find(const mo_allowed_devices *domains,
                              mo_bound_chain **chain, mo_error *err);
void mo_bound_chain_free(mo_bound_chain *chain);

/* Returns the segment with the most ops, owned by the chain. */
const mo_bound_segment *mo_bound_chain_largest(const mo_bound_chain *chain);

#endif
