/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_requests.h - moirai-exec --requests: a stream of requests, several in
 * flight, and its report.
 */
#ifndef MO_CLI_EXEC_REQUESTS_H
#define MO_CLI_EXEC_REQUESTS_H

#include <stdint.h>

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/request_signals.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/transport/transport.h"

typedef struct mo_cli_exec_stream {
    const mo_exec_job *job;
    const mo_exec_units *units;
    const mo_transport *transport;
    mo_transport_world *world;
    uint64_t config_digest;
    const int64_t *min_transfer_ns; /* link emulation, or NULL */
    mo_exec_signals *signals;       /* they may not have begun */
} mo_cli_exec_stream;

/* Runs the requests of the options and writes outputs and report. Collective:
 * all ranks call it. o->code is MO_EXIT_FAILED when a request has failed, and
 * 128 more than a signal by which requests were left out. */
mo_status mo_cli_exec_requests(mo_exec_options *o,
                               const mo_cli_exec_stream *stream, mo_error *err);

/* mo_run_on_progress; logger: mo_driver_log. */
void mo_cli_exec_log_progress(const void *logger, const char *device,
                              const char *what, double seconds);

#endif
