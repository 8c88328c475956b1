/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_windows.h - head-tail windows of the ops of a segment class for a given
 * makespan, with the devices that they leave.
 *
 * Heads and tails follow from the flows, and, for the ops of the class's
 * chain, from the bounds of its blocks and cuts. A device on which head, time
 * and tail of an op exceed the makespan is excluded, and the windows are
 * propagated again.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_TIME_WINDOWS_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_TIME_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/op_chain.h"
#include "solvers/search/bound/chain/chain_bound.h"

/*
 * Minimum-cut bound on the transfers along a chain, from one device to another.
 *
 *           +--------------------+
 *     u ----+--o--o--o--o--o--o--+--- w       u on a, w on b
 *
 * Where an op of the chain is read by a later one, past others of the chain,
 * everything that connects the two has to leave a, and to enter b, in between,
 * through the one port of the device: what crosses is at least a minimum cut.
 */

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

typedef struct mo_chain_windows {
    const mo_chain_blocks *blocks;
    bool has_chain; /* blocks and cuts are not switched off */
    const mo_chain_partition *partition;
    mo_allowed_devices
        places;         /* of the class's instance; `allowed` is owned here */
    int64_t *head_ns;   /* by op and device: lower bound on the start */
    int64_t *tail_ns;   /* the same: lower bound on the time from its end to the
                           end of all */
    int64_t *device_ns; /* by device, scratch buffer */
    int *ends;          /* by op: the segment of which it is v, or -1 */
    int *begins;        /* the same for u */
    mo_chain_cuts *cuts;
    int64_t *cut_table; /* by cut and pair of devices: from the end of its u to
                           the start of its w */
    int *cut_ends;      /* by op: the cut of which it is w, or -1 */
    int *cut_begins;    /* the same for u */
} mo_chain_windows;

/* Allocates the windows of a class that has an instance, with all its allowed
 * devices. blocks is borrowed and must outlive them; the caller frees *windows
 * with mo_chain_windows_free(), which accepts NULL. */
mo_status mo_chain_windows_new(const mo_chain_blocks *blocks, int cls,
                               mo_chain_windows **windows, mo_error *err);
void mo_chain_windows_free(mo_chain_windows *windows);

/* Excludes all other devices for op. */
void mo_chain_windows_fix(mo_chain_windows *windows, int op, int device);

/* Excludes devices that miss time_ns. Returns false if some op has none left:
 * then not all ops can run within that time. */
bool mo_chain_windows_propagate(mo_chain_windows *windows, int64_t time_ns);

/* Returns the device of an op that has only one, or -1. */
int mo_chain_windows_fixed_device(const mo_chain_windows *windows, int op);

#endif
