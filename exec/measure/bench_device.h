/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_device.h - device benchmark: achieved FLOP rate and memory bandwidth,
 * by a product of two square matrices and a copy, run like the calls of any
 * network.
 */
#ifndef MO_EXEC_MEASURE_BENCH_DEVICE_H
#define MO_EXEC_MEASURE_BENCH_DEVICE_H

#include "base/error.h"
#include "exec/backend/backend.h"

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

#endif
