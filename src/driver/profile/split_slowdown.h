/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_slowdown.h - slowdown of the parts of a GPU, or of CPU devices, that
 * work at the same time on requests in flight, and the load of a transfer
 * between them. Such devices share caches and memory, and parts of a GPU the
 * hardware that launches kernels.
 */
#ifndef MO_DRIVER_PROFILE_SPLIT_SLOWDOWN_H
#define MO_DRIVER_PROFILE_SPLIT_SLOWDOWN_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/exec_job.h"
#include "driver/profile/measure_device.h"

/* Runs streams of requests by the contiguous split of least period and by those
 * of the search, sets parts_slowdown and parts_overhead_us of the profile to
 * the fit to their periods (cost/calibrate/fit_period.h), and *added. All else
 * of the profile is complete. Nothing is measured where
 *
 *   - the profile has a slowdown, or there is none,
 *   - the devices are neither parts of a GPU nor all CPUs, or have several
 *     ranks,
 *   - devices are measured alone (--alone),
 *   - the contiguous split uses a single part. */
mo_status mo_profiler_measure_split(const mo_profiler_work *w,
                                    const mo_exec_options *options, bool *added,
                                    mo_error *err);

#endif
