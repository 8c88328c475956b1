/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_devices.h - the devices of a cluster that can be measured here, and
 * what their rows are called.
 */
#ifndef MO_DRIVER_PROFILE_PROFILE_DEVICES_H
#define MO_DRIVER_PROFILE_PROFILE_DEVICES_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "driver/profile/profile_options.h"
#include "cost/cluster.h"

typedef struct mo_profiler_devices {
    mo_cluster *cluster;
    mo_exec_units units;
    char **gpus; /* by device: what its GPU calls itself, or NULL */
} mo_profiler_devices;

/* Begins as zeros, and is the caller's to clear whatever the result. */
mo_status mo_profiler_devices_find(const mo_profiler_options *o,
                                   mo_profiler_devices *devices, mo_error *err);
void mo_profiler_devices_clear(mo_profiler_devices *devices);

/* CPUs, and GPUs where there is one to run on. */
bool mo_profiler_devices_available(const mo_profiler_devices *devices,
                                   int device);

/* Its id; or its GPU's name, where that is the model the cluster speaks of, or
 * the cluster does not speak of GPUs at all, unless it is a part of one. */
const char *mo_profiler_devices_name(const mo_profiler_devices *devices,
                                     int device);

/* Do they run alike?  Then what one takes the other does, too. */
bool mo_profiler_devices_equivalent(const mo_profiler_devices *devices, int a,
                                    int b);

#endif
