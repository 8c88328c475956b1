/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_bound.h - minimum-cut bound on the transfers along a chain, from one
 * device to another.
 *
 *           +--------------------+
 *     u ----+--o--o--o--o--o--o--+--- w       u on a, w on b
 *
 * Where an op of the chain is read by a later one, past others of the chain,
 * everything that connects the two has to leave a, and to enter b, in between,
 * through the one port of the device: what crosses is at least a minimum cut.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_CUT_BOUND_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_CUT_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/bound/op_chain.h"
#include "schedule/allowed_devices.h"

/* From the end of u on a to the start of w on another device b, at least
 * leave_ns[a] and at least enter_ns[b] pass. */
typedef struct mo_chain_cut {
    int u, w;
    int64_t *leave_ns, *enter_ns; /* by device */
} mo_chain_cut;

typedef struct mo_chain_cuts {
    int n;
    mo_chain_cut *cuts; /* no two with the same u */
    int64_t *times_ns;
} mo_chain_cuts;

/* Allocates the cuts of a chain; none where transfers do not share ports. The
 * caller frees *cuts with mo_chain_cuts_free(), which accepts NULL. */
mo_status mo_chain_cuts_find(const mo_allowed_devices *places,
                             const mo_bound_chain *chain, mo_chain_cuts **cuts,
                             mo_error *err);
void mo_chain_cuts_free(mo_chain_cuts *cuts);

#endif
