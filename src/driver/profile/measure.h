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
