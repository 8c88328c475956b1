/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - the state of moirai-profile run, and its parts: measurements of
 * devices, links, overheads of the host, and splits.
 */
#ifndef MO_DRIVER_PROFILE_MEASURE_H
#define MO_DRIVER_PROFILE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/intern.h"
#include "cost/cluster.h"
#include "cost/profile.h"
#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/input_tensors.h"
#include "driver/profile/profile_options.h"
#include "driver/profile/profile_ranks.h"

/* Rounds of a CPU device: kernels are prepared anew for each, since the
 * placement of their memory is random. */
enum { MO_PROFILER_ROUNDS = 5 };

enum { MO_PROFILER_PARTS_SIZE = 4096 }; /* text of the parts of a GPU */

/* profile_devices.c: devices of a cluster that can be measured here, and their
 * names in the profile. */
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

/* profile_table.c: the rows of a profile while it is measured: existing and
 * new ones. */
typedef struct mo_profiler_table {
    const mo_graph *graph; /* the measured graph */
    mo_intern *signatures;
    mo_arena *arena;
    int *signature_of; /* by op, its number */
    int *example;      /* by signature, one op that has it */
    int n_signatures;
    mo_profile *profile;  /* rows so far, or NULL */
    const char *emulated; /* as in mo_profile */
    int in_flight;        /* likewise; set before the table is opened */
} mo_profiler_table;

/* Reads the file if it exists ("-" and NULL do not); its rows must come from
 * the same parts of a GPU, or from none, with as many requests in flight.
 * *rows begins as zeros but for in_flight, and is cleared
 * by the caller, also after a failure; emulated must outlive it. */
mo_status mo_profiler_table_open(const mo_graph *graph, const char *file,
                                 const char *emulated, mo_profiler_table *rows,
                                 mo_error *err);
void mo_profiler_table_clear(mo_profiler_table *rows);

/* Whether the signature was measured on the device at least so often. */
bool mo_profiler_table_has(const mo_profiler_table *rows, const char *device,
                           int signature, int count);

/* Measurement of a signature; adding it makes a row for each signature with
 * count > 0 and keeps the others. */
typedef struct mo_profiler_stat {
    double median_us, spread_us;
    int count;
} mo_profiler_stat;

mo_status mo_profiler_table_add(mo_profiler_table *rows, const char *device,
                                const mo_profiler_stat *measured,
                                mo_error *err);

/* Adds links, which replace all rows of their pairs. */
mo_status mo_profiler_table_add_links(mo_profiler_table *rows,
                                      const mo_profile_link *links, int n,
                                      mo_error *err);

/* Writes the profile; the file appears whole or not at all. */
mo_status mo_profiler_table_write(const mo_profiler_table *rows,
                                  const char *file, mo_error *err);

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

/* graph_links.c: messages between devices as a network sends them, through the
 * ranks and the paths that it uses. Measures all links, unless the profile has
 * them; at rank 0 the rows are added to it, and *added is set. Collective. */
mo_status mo_profiler_measure_links(mo_profiler_work *w, bool *added,
                                    mo_error *err);

/* host_overheads.c: overheads of the host with several requests in flight, as a
 * profile has them: of CPU devices for transfers, and of the process that
 * launches the work of GPUs. Measures what the profile has not, each with two
 * devices of its kind, and only in a single process; sets *added if it adds
 * anything. The host's time for a request is capped by the shortest period of
 * the network on a GPU. Without a profile nothing is measured. */
mo_status mo_profiler_measure_overheads(const mo_profiler_work *w, bool *added,
                                        mo_error *err);

/* split_slowdown.c: slowdown of the parts of a GPU, or of CPU devices, that
 * work at the same time on requests in flight, and the load of a transfer
 * between them. Such devices share caches and memory, and parts of a GPU the
 * hardware that launches kernels.
 *
 * Runs streams of requests by the contiguous split of least period and by those
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
