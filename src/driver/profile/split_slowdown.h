/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_slowdown.h - slowdown of the parts of a GPU, or of CPU devices, that
 * work at the same time on requests in flight, and the load of a transfer
 * between them: they share caches, memory, and parts of a GPU what begins
 * kernels.
 */
#ifndef MO_DRIVER_PROFILE_SPLIT_SLOWDOWN_H
#define MO_DRIVER_PROFILE_SPLIT_SLOWDOWN_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/exec_job.h"
#include "driver/profile/measure_device.h"

/* Runs streams of requests by the contiguous split of least period and by those
 * of the search, and sets parts_slowdown and parts_overhead_us of the profile
 * to the fit to their periods (cost/calibrate/fit_period.h); *added then.
 * Nothing is measured where the profile has a slowdown, where the devices are
 * neither parts of a GPU nor all CPUs, in one process, with --alone, and where
 * the contiguous split uses a single part. All else of the profile is complete.
 */
mo_status mo_profiler_measure_split(const mo_profiler_work *w,
                                    const mo_exec_options *options, bool *added,
                                    mo_error *err);

#endif
