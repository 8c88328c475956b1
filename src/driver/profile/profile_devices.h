/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_devices.h - devices of a cluster that can be measured here, and
 * their names in the profile.
 */
#ifndef MO_DRIVER_PROFILE_PROFILE_DEVICES_H
#define MO_DRIVER_PROFILE_PROFILE_DEVICES_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "driver/profile/profile_options.h"
#include "driver/profile/profile_ranks.h"
#include "cost/cluster.h"

typedef struct mo_profiler_devices {
    mo_cluster *cluster;
    mo_exec_units units;
    char **gpus; /* by device: the model name of its GPU, or NULL */
} mo_profiler_devices;

/* *devices begins as zeros; the caller clears it, also after a failure.
 * Collective: rank 0 has the names of all GPUs, others of their own. */
mo_status mo_profiler_devices_find(const mo_profiler_options *o,
                                   const mo_profiler_ranks *ranks,
                                   mo_profiler_devices *devices, mo_error *err);
void mo_profiler_devices_clear(mo_profiler_devices *devices);

/* Whether the device can run here: CPUs, and GPUs where there is one. */
bool mo_profiler_devices_available(const mo_profiler_devices *devices,
                                   int device);

/* Returns its id, or the name of its GPU if the cluster has that model or no
 * GPUs at all, unless it is a part of one. */
const char *mo_profiler_devices_name(const mo_profiler_devices *devices,
                                     int device);

/* Whether both have the same backend and configuration, so that measurements
 * of one hold for the other. */
bool mo_profiler_devices_equivalent(const mo_profiler_devices *devices, int a,
                                    int b);

#endif
