/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_overhead.h - benchmark of the overhead of a transfer (the o of LogP):
 * processor time of a CPU device that sends or receives it while requests are
 * pipelined.
 *
 * Two devices compute the same with and without transfers between them, with
 * several requests in flight. The difference in processor time of this process,
 * which other processes hardly change, is shared by both ends of all transfers;
 * two sizes of them give the part by transfer and that by byte.
 *
 * Also of the launch overhead of the host: requests whose kernels take almost
 * no time have as their period what one process needs to launch them. Measured
 * with one kernel, with 16, and with 16 and 15 transfers.
 */
#ifndef MO_EXEC_MEASURE_BENCH_OVERHEAD_H
#define MO_EXEC_MEASURE_BENCH_OVERHEAD_H

#include "base/error.h"
#include "exec/runtime/device/run_options.h"

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
