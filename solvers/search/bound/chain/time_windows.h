/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - when the ops of a kind of pieces can run, and where, if all is to
 * be done within a given time.
 *
 * What lies before an op and behind it follows from the flows, and, for the ops
 * of the kind's chain, from what its blocks and spans take at least.  A device
 * on which an op would be too late is taken away, and the others are looked at
 * again.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_TIME_WINDOWS_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_TIME_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/bound/chain/cut_bound.h"

typedef struct mo_chain_windows {
    const mo_chain_blocks *blocks;
    const mo_chain_partition *chained;
    mo_allowed_devices places; /* of the kind's instance; allowed is its own */
    int64_t *head_ns;          /* by op and device: it does not start sooner */
    int64_t *tail_ns; /* the same: all is not done sooner after its end */
    int64_t *at;      /* by device, for passes */
    int *ends;        /* by op: the segment that it is the v of, or -1 */
    int *begins;      /* the same for u */
    mo_chain_cuts *spans;
    int64_t *span_table; /* by span and pair of devices: from the end of its u
                            to the start of its w */
    int *span_ends;      /* by op: the span that it is the w of, or -1 */
    int *span_begins;    /* the same for u */
} mo_chain_windows;

/* The kind has a part; blocks must outlive it.  All that the kind is allowed.
 */
mo_status mo_chain_windows_new(const mo_chain_blocks *blocks, int cls,
                               mo_chain_windows **windows, mo_error *err);
void mo_chain_windows_free(mo_chain_windows *windows);

/* op on no other device. */
void mo_chain_windows_fix(mo_chain_windows *windows, int op, int device);

/* Takes away what is too late for the time given.  False: some op can be
 * nowhere, so that not all can be done within that time. */
bool mo_chain_windows_propagate(mo_chain_windows *windows, int64_t time_ns);

/* The device of an op that has only one, or -1. */
int mo_chain_windows_fixed_device(const mo_chain_windows *windows, int op);

#endif
