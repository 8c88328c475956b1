/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_link.h - link benchmark: message times between devices.
 *
 * Runs a plan that consists of transfers only, like any other plan: the result
 * is the time that a transfer of that size takes in a network.
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
                                       rank_of and stop; the rest is ignored */
    int repeats;                    /* of every message; 0: 15 */
} mo_measure_links_options;

/* From the moment both ends are posted until the receiver continues. */
typedef struct mo_measure_link_row {
    int from, to;
    int64_t bytes;
    int64_t median_ns, spread_ns; /* spread: interquartile range */
    int count;
    const char *path; /* as mo_transport.path; a static string */
} mo_measure_link_row;

/* Messages of 1 KiB to 16 MiB between any two devices, one at a time.
 * Collective: all ranks call it; rank 0 gets the rows, sorted by from, to and
 * bytes, which the caller frees with free(). No rows: it was stopped. */
mo_status mo_measure_links(const mo_measure_links_options *options,
                           mo_measure_link_row **rows, int *n_rows,
                           mo_error *err);

#endif
