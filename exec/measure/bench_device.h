/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yardstick.h - what a device reaches: a product of two square matrices and a
 * copy of memory, run as the calls of any network are.
 */
#ifndef MO_EXEC_MEASURE_BENCH_DEVICE_H
#define MO_EXEC_MEASURE_BENCH_DEVICE_H

#include "base/error.h"
#include "exec/backend/backend.h"

typedef struct mo_measure_device_rates {
    double gflops;        /* of the product, in floats */
    double bandwidth_gbs; /* of the copy: what is read and what is written */
} mo_measure_device_rates;

/* Tries ever larger ones, each on a unit of its own, until they take long
 * enough to be timed well; the median of the largest counts.  A second or two.
 */
mo_status mo_measure_device(const mo_backend *backend,
                            const mo_backend_unit_options *options,
                            mo_measure_device_rates *reached, mo_error *err);

#endif
