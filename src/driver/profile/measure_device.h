/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_device.h - times of all ops of a network on one device, part of
 * moirai-profile run.
 */
#ifndef MO_DRIVER_PROFILE_MEASURE_DEVICE_H
#define MO_DRIVER_PROFILE_MEASURE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/input_tensors.h"
#include "driver/profile/profile_devices.h"
#include "driver/profile/profile_options.h"
#include "driver/profile/profile_ranks.h"
#include "driver/profile/profile_table.h"

/* Rounds of a CPU device: kernels are prepared anew for each, since the
 * placement of their memory is random. */
enum { MO_PROFILER_ROUNDS = 5 };

enum { MO_PROFILER_PARTS_SIZE = 4096 }; /* text of the parts of a GPU */

/* State of the subcommand. */
typedef struct mo_profiler_work {
    const mo_profiler_options *o;
    mo_profiler_ranks ranks;
    mo_profiler_devices devices;
    mo_exec_job job;        /* the network on one device, planned for CPUs */
    mo_exec_plan *gpu_plan; /* NULL: no GPUs */
    mo_exec_inputs inputs;
    char parts[MO_PROFILER_PARTS_SIZE]; /* as in the profile; "": none */
    mo_profiler_table rows;
    mo_profiler_stat *measured; /* by device and signature */
    mo_progress progress;
    int64_t done;            /* rounds done */
    int64_t least_period_ns; /* of the network on a GPU with requests in flight;
                                0: not measured */
} mo_profiler_work;

/* Whether the device is measured by this rank. */
bool mo_profiler_is_own(const mo_profiler_work *w, int device);

/* Returns the results of a device, by signature. */
mo_profiler_stat *mo_profiler_measured(const mo_profiler_work *w, int device);

/* Measures all ops on a device of this rank, while the devices that it shares
 * something with run the network, too, unless --alone. */
mo_status mo_profiler_measure_device(mo_profiler_work *w, int device,
                                     mo_error *err);

#endif
