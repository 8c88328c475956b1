/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - how long messages take between devices, measured.
 *
 * By a plan that does nothing but send, run like any other: what comes out is
 * what a transfer of that size will take in a network.
 */
#ifndef MO_EXEC_MEASURE_BENCH_LINK_H
#define MO_EXEC_MEASURE_BENCH_LINK_H

#include <stdint.h>

#include "base/error.h"
#include "exec/runtime/run.h"

typedef struct mo_measure_links_options {
    int n_devices;
    const char *const *ids;         /* by device, for errors */
    const mo_run_plan_options *run; /* transport, world, backends, units,
                                  rank_of and stop; the rest does not matter */
    int repeats;                    /* of every message; 0: 15 */
} mo_measure_links_options;

/* From the moment both ends have begun until the receiver goes on. */
typedef struct mo_measure_link_row {
    int from, to;
    int64_t bytes;
    int64_t median_ns, spread_ns; /* spread: between the quartiles */
    int count;
} mo_measure_link_row;

/* Messages of 1 KiB to 16 MiB between any two devices, one at a time.  All
 * ranks call it; rank 0 gets the rows, by from, to and bytes, which the caller
 * frees. No rows: it was stopped. */
mo_status mo_measure_links(const mo_measure_links_options *options,
                           mo_measure_link_row **rows, int *n_rows,
                           mo_error *err);

#endif
