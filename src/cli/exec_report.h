/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_report.h - parts of moirai-exec: outputs of single runs (report, plan,
 * trace, output tensors), and streams of requests.
 */
#ifndef MO_CLI_EXEC_REPORT_H
#define MO_CLI_EXEC_REPORT_H

#include "base/error.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/compare_outputs.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/device_units.h"
#include "driver/exec/recover.h"
#include "driver/exec/request_signals.h"
#include "exec/measure/host_load.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/runtime/run.h"
#include "exec/transport/transport.h"

typedef struct mo_cli_exec_result {
    const mo_exec_job *job;
    const mo_exec_units *units;
    const char *transport;
    const char *const *paths; /* by transfer; NULL: one rank, or a dry run */
    int n_ranks;
    const mo_run_result *result; /* NULL: a dry run */
    mo_measure_load load;        /* during the run; zeros: unknown */
    const mo_exec_comparison *comparisons;
    int n_comparisons;
} mo_cli_exec_result;

/* Writes report, plan, trace and the network's outputs, each whole or not at
 * all. */
mo_status mo_cli_exec_report(mo_exec_options *o,
                             const mo_cli_exec_result *outcome, mo_error *err);

/* Logs why the solution at path is not valid. */
void mo_cli_exec_log_invalid(const mo_exec_options *o, const char *path,
                             const mo_exec_job *job);

/* Returns the name of the transport for the report; static. */
const char *mo_cli_exec_transport_name(const mo_transport *transport,
                                       const mo_transport_world *world);

/* Logs outputs with infinities or NaN: results like others, but hardly
 * meant. */
void mo_cli_exec_log_not_finite(const mo_exec_options *o,
                                const mo_exec_plan *plan,
                                const mo_run_result *result);

/* Returns whether predictions come from numbers of these devices: the built-in
 * cluster of this machine has no measured ones. */
bool mo_cli_exec_is_trusted(const mo_exec_job *job);

/* exec_requests.c, --requests: a stream of requests, several in flight, and its
 * report. */

typedef struct mo_cli_exec_stream {
    const mo_exec_job *job;
    const mo_exec_units *units;
    const mo_transport *transport;
    mo_transport_world *world;
    uint64_t config_digest;
    const int64_t *min_transfer_ns; /* link emulation, or NULL */
    mo_exec_signals *signals;       /* they may not have begun */
    mo_exec_recovery *recovery; /* NULL: the loss of a rank ends the stream */
} mo_cli_exec_stream;

/* Runs the requests of the options and writes outputs and report. Collective:
 * all ranks call it. o->code is MO_EXIT_FAILED when a request has failed, and
 * 128 more than a signal by which requests were left out. */
mo_status mo_cli_exec_requests(mo_exec_options *o,
                               const mo_cli_exec_stream *stream, mo_error *err);

/* exec_generate.c, --generate: prints ids as they are chosen, and the report.
 * Collective. */
mo_status mo_cli_exec_generate(mo_exec_options *o,
                               const mo_cli_exec_stream *stream, mo_error *err);

/* Progress of devices until they run. */
typedef struct mo_cli_exec_progress {
    const mo_driver_log *logger;
    mo_progress *step;
} mo_cli_exec_progress;

/* mo_run_on_progress; progress: mo_cli_exec_progress. */
void mo_cli_exec_log_progress(const void *progress, const char *device,
                              const char *what, double seconds);

#endif
