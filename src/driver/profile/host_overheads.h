/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_overheads.h - overheads of the host with several requests in flight, as
 * a profile has them: of CPU devices for transfers, and of the process that
 * launches the work of GPUs.
 */
#ifndef MO_DRIVER_PROFILE_HOST_OVERHEADS_H
#define MO_DRIVER_PROFILE_HOST_OVERHEADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/profile.h"
#include "driver/profile/profile_devices.h"
#include "driver/profile/profile_ranks.h"

/* Measures what the profile has not, each with two devices of its kind, and
 * only in a single process; sets *added if it adds anything. n_calls and
 * least_period_ns are of the network on a GPU: its calls, and its shortest
 * period on one; the host's time for a request is capped by the latter, where
 * it is not 0. profile may be NULL: nothing is measured. */
mo_status mo_profiler_measure_overheads(const mo_profiler_devices *devices,
                                        const mo_profiler_ranks *ranks,
                                        int in_flight, int n_calls,
                                        int64_t least_period_ns,
                                        mo_profile *profile, bool *added,
                                        mo_error *err);

#endif
