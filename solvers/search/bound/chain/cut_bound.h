/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - what it takes at least to bring what lies along a chain from one
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

/* From the end of u on a to the start of w on another device b it is not less
 * than leave_ns[a], and not less than enter_ns[b]. */
typedef struct mo_chain_cut {
    int u, w;
    int64_t *leave_ns, *enter_ns; /* by device */
} mo_chain_cut;

typedef struct mo_chain_cuts {
    int n;
    mo_chain_cut *spans; /* no two with one u */
    int64_t *times_ns;
} mo_chain_cuts;

/* None where transfers do not meet in ports. */
mo_status mo_chain_cuts_find(const mo_allowed_devices *places,
                             const mo_bound_chain *chain, mo_chain_cuts **spans,
                             mo_error *err);
void mo_chain_cuts_free(mo_chain_cuts *spans);

#endif
