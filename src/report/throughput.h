/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throughput.h - report of a pipelined execution, many requests in flight, as
 * text or JSON.
 *
 * Plain numbers, filled in by the caller; strings are borrowed.
 */
#ifndef MO_REPORT_THROUGHPUT_H
#define MO_REPORT_THROUGHPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

/* What one request occupies for a time: a device, or that by which transfers
 * exclude each other. */
typedef struct mo_report_throughput_resource {
    const char *kind; /* "device", "out-port", "in-port", "channel", "link" */
    const char *from, *to; /* devices; to NULL: of one device; both: of none */
    int64_t predicted_ns;
    int64_t measured_ns; /* negative: not measured */
} mo_report_throughput_resource;

typedef struct mo_report_throughput_device {
    const char *id, *backend;
    int items;   /* ops of the placed graph on the device */
    int threads; /* 0: of a GPU */
    int64_t weight_bytes;
    int slots;                              /* requests in flight there */
    int64_t planned_slot_bytes, slot_bytes; /* of one request in flight */
    int64_t shared_bytes;                   /* allocated for all of them */
    int64_t capacity_bytes;                 /* INT64_MAX: no limit */
} mo_report_throughput_device;

typedef struct mo_report_throughput_failure {
    int64_t request;
    char *reason;
} mo_report_throughput_failure;

/* A loss of ranks that the run survived. Times of a clock; 0: not reached. */
typedef struct mo_report_throughput_recovery {
    char *why;
    char *devices;       /* that were lost: their ids, with blanks between */
    int64_t request;     /* the first that ran again */
    int64_t n_again;     /* requests that were in flight */
    int n_ranks;         /* that are left */
    int n_moved;         /* ops that have another device */
    int64_t moved_bytes; /* of their weights */
    int64_t silent_ns;   /* how long the lost rank had sent nothing */
    int64_t detected_ns, joined_ns, placed_ns, loaded_ns, output_ns;
} mo_report_throughput_recovery;

/* A copy of the network on devices of its own. */
typedef struct mo_report_throughput_copy {
    int64_t n_completed;
    int in_flight;
    int64_t period_ns, predicted_ns;
} mo_report_throughput_copy;

typedef struct mo_report_throughput {
    const char *graph, *cluster;
    int ops, coarse_ops, edges;
    const char *transport, *precision;
    int n_ranks;
    bool trusted;     /* predicted from numbers of these devices */
    const char *load; /* by other processes, or NULL */

    int in_flight;
    int64_t n_requests, n_completed;
    int64_t n_batches;      /* that they were run in; 0: each by itself */
    const char *stopped_by; /* "SIGTERM": requests were left out; or NULL */
    int64_t wall_ns, period_ns, predicted_period_ns;
    int n_steady; /* periods that were measured; 0: none */
    int64_t min_ns, p50_ns, p95_ns, p99_ns; /* latency */

    mo_report_throughput_resource *resources; /* devices first */
    int n_resources;
    mo_report_throughput_device *devices;
    int n_devices;
    const mo_report_throughput_copy *copies; /* of a replicated solution */
    int n_copies;
    const mo_report_throughput_recovery *recoveries;
    int n_recoveries;
    const mo_report_throughput_failure *failures;
    int64_t n_failures;
} mo_report_throughput;

void mo_report_throughput_text(const mo_report_throughput *t, mo_out *out);
void mo_report_throughput_json(const mo_report_throughput *t, mo_out *out);

#endif
