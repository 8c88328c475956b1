/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execution.h - report of an execution, as text or JSON.
 *
 * Plain numbers, filled in by the caller; strings are borrowed.
 */
#ifndef MO_REPORT_EXECUTION_H
#define MO_REPORT_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "report/rules.h"

typedef struct mo_report_execution_device {
    const char *id;
    int items;           /* ops of the placed graph on the device */
    const char *backend; /* "cpu", "cuda" */
    const char *model;   /* of a whole GPU, "NVIDIA H200", or NULL */
    int threads;         /* 0: of a GPU */
    const char *cpus;    /* "0-3": that they are pinned to; "" or NULL: none */
    int sms;             /* of a part of a GPU; 0: not a part */
    int64_t weight_bytes, arena_bytes;        /* as planned */
    int64_t workspace_bytes, allocated_bytes; /* as allocated; MO_UNKNOWN */
    int64_t capacity_bytes;                   /* INT64_MAX: no limit */
    int64_t busy_ns;                          /* or MO_UNKNOWN */
    int64_t wait_ns; /* for a processor, all threads together, likewise */
} mo_report_execution_device;

/* Sum over the ops of one class; one more entry for calls without an op. */
typedef struct mo_report_execution_class {
    const char *name;
    int items;
    int64_t predicted_ns, measured_ns;
} mo_report_execution_class;

typedef struct mo_report_execution_output {
    const char *name, *type; /* type: "f32[1,1000]" */
    const char *file;        /* where it was written, or NULL */
    double error;            /* relative; NAN: not compared */
} mo_report_execution_output;

/* Transfers between two devices that take the same path. */
typedef struct mo_report_execution_link {
    const char *from, *to;
    const char *path; /* "local", "shm", "tcp", ... */
    int n_transfers;
    int64_t bytes;
} mo_report_execution_link;

/* In place of a prediction that no number of the devices supports. */
#define MO_REPORT_NO_PREDICTION                                                \
    "unknown: no times of these devices; measure them with moirai-profile"

/* Outputs beside a reference. */
typedef struct mo_report_execution_comparison {
    const char *with; /* "a run on one device", a folder */
    double max_error;
} mo_report_execution_comparison;

enum { MO_REPORT_EXECUTION_COMPARISONS = 2 };

typedef struct mo_report_execution {
    const char *graph, *cluster; /* files or names */
    int ops, coarse_ops, edges;
    const char *transport;
    const char *precision; /* "f32", "tf32", ... */
    int random_weights;    /* tensors of weights with random values */
    double random_bytes;   /* of these */
    int n_ranks;
    bool emulated; /* devices are parts of one GPU, and links are timers */

    bool measured; /* false: planned only */
    int runs, warm_ups;
    int64_t predicted_ns;    /* the schedule's makespan */
    const mo_regime *regime; /* that it was judged by, with rules; NULL: a graph
                                alone */
    mo_report_rules rules;
    bool trusted; /* predicted from numbers of these devices; otherwise the
                     predictions are not printed */
    int64_t measured_ns, spread_ns;
    int64_t min_ns, p95_ns, p99_ns;
    const int64_t *run_ns; /* of every run */
    /* Runs in which threads waited for a processor for a sizeable part, and a
     * description of the load by other processes, or NULL: they left enough. */
    int n_disturbed;
    const char *load;

    mo_report_execution_device *devices;
    int n_devices;
    int n_transfers;
    int64_t sent_bytes;
    /* Sums over transfers, or MO_UNKNOWN. A measured one lasts until its
     * receiver goes on, and may have waited for a thread that copies or
     * receives; exposed is the part that receivers had nothing else to do. */
    int64_t predicted_transfer_ns, measured_transfer_ns, exposed_transfer_ns;
    mo_report_execution_link *links; /* of several ranks; NULL: of one */
    int n_links;
    mo_report_execution_class *classes;
    int n_classes;

    /* Ratios up to 1, or NAN if undefined: critical path of measured times
     * over makespan; time in calls over busy time of devices; share of
     * transfer time that no call waited for. */
    double path_ratio, kernel_ratio, hidden_ratio;

    mo_report_execution_output *outputs;
    int n_outputs;
    mo_report_execution_comparison compared[MO_REPORT_EXECUTION_COMPARISONS];
    int n_compared;
    double tolerance;
} mo_report_execution;

/* Returns whether no other process took processors away from the measured
 * runs. */
bool mo_report_execution_quiet(const mo_report_execution *execution);

void mo_report_execution_text(const mo_report_execution *execution,
                              mo_out *out);
void mo_report_execution_json(const mo_report_execution *execution,
                              mo_out *out);

#endif
