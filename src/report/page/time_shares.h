/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_shares.h - shares of a schedule's makespan by device and by pair of
 * devices.
 */
#ifndef MO_REPORT_PAGE_TIME_SHARES_H
#define MO_REPORT_PAGE_TIME_SHARES_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/critical_path.h"
#include "schedule/schedule.h"

/* compute_ns + transfer_ns + idle_ns is the makespan. */
typedef struct mo_time_share {
    int n_ops;
    int64_t compute_ns;
    int64_t transfer_ns; /* transfers to or from it while it does not compute */
    int64_t idle_ns;
    int64_t path_ns; /* its ops on the critical path */
} mo_time_share;

/* Transfers from one device to another. */
typedef struct mo_pair_share {
    int from, to;
    int n_transfers;
    int64_t bytes; /* MO_UNKNOWN where sizes are unknown */
    int64_t busy_ns, path_ns;
} mo_pair_share;

typedef struct mo_time_shares {
    mo_time_share *devices;
    mo_pair_share *pairs; /* those with transfers, by from and to */
    int n_pairs;
    int64_t path_transfer_ns, path_gap_ns;
} mo_time_shares;

/* *shares begins as zeros; the caller clears it, also after a failure. */
mo_status mo_time_shares_compute(const mo_instance *x, const mo_schedule *s,
                                 const mo_critical_path *path,
                                 mo_time_shares *shares, mo_error *err);
void mo_time_shares_clear(mo_time_shares *shares);

#endif
