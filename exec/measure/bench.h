/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - benchmarks of links, devices, and the overheads of the host.
 *
 * Links: runs a plan that consists of transfers only, like any other plan: the
 * result is the time that a transfer of that size takes in a network.
 *
 * Devices: achieved FLOP rate and memory bandwidth, by a product of two square
 * matrices and a copy, run like the calls of any network.
 *
 * Overhead of a transfer (the o of LogP): processor time of a CPU device that
 * sends or receives it while requests are pipelined. Two devices compute the
 * same with and without transfers between them, with several requests in
 * flight. The difference in processor time of this process, which other
 * processes hardly change, is shared by both ends of all transfers; two sizes
 * of them give the part by transfer and that by byte.
 *
 * Launch overhead of the host: requests whose kernels take almost no time have
 * as their period what one process needs to launch them. Measured with one
 * kernel, with 16, and with 16 and 15 transfers.
 */
#ifndef MO_EXEC_MEASURE_BENCH_H
#define MO_EXEC_MEASURE_BENCH_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
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

typedef struct mo_measure_device_rates {
    double gflops;        /* of the product, in f32 */
    double bandwidth_gbs; /* of the copy: bytes read and written */
} mo_measure_device_rates;

/* Runs ever larger problems, each on a unit of its own, until one takes long
 * enough to be timed well; the median of the largest counts. Takes a second or
 * two. */
mo_status mo_measure_device(const mo_backend *backend,
                            const mo_backend_unit_options *options,
                            mo_measure_device_rates *reached, mo_error *err);

typedef struct mo_measure_overhead {
    double overhead_us; /* at either end of a transfer */
    double copy_gbs;    /* bytes at either end; 0: too little to measure */
} mo_measure_overhead;

/* units: those of two CPU devices of this process. Takes about a second. */
mo_status mo_measure_overhead_run(const mo_backend_unit_options *units,
                                  int in_flight, mo_measure_overhead *measured,
                                  mo_error *err);

typedef struct mo_measure_host {
    double request_us;  /* period of a request with one kernel */
    double call_us;     /* for each further kernel */
    double transfer_us; /* for each transfer, as host_transfer_ns of
                           mo_instance */
} mo_measure_host;

/* units: those of two devices of a backend with separate memory that pipelines
 * requests. Takes a few seconds. */
mo_status mo_measure_host_run(const mo_backend *backend,
                              const mo_backend_unit_options *units,
                              int in_flight, mo_measure_host *measured,
                              mo_error *err);

#endif
