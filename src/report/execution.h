/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execution.h - how a run of a placed network went, for people and programs.
 *
 * Plain numbers: who ran it fills them in.
 */
#ifndef MO_REPORT_EXECUTION_H
#define MO_REPORT_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

typedef struct mo_report_execution_device {
    const char *id;
    int items;           /* ops of the placed graph that run there */
    const char *backend; /* "cpu", "cuda" */
    int threads;         /* 0: of a GPU */
    int sms;             /* of a part of a GPU; 0: it is none */
    int64_t weight_bytes, arena_bytes;        /* as planned */
    int64_t workspace_bytes, allocated_bytes; /* as it was; MO_UNKNOWN */
    int64_t capacity_bytes;                   /* INT64_MAX: no limit */
    int64_t busy_ns;                          /* or MO_UNKNOWN */
} mo_report_execution_device;

/* All ops of one class together; one more for what belongs to no op. */
typedef struct mo_report_execution_class {
    const char *name;
    int items;
    int64_t predicted_ns, measured_ns;
} mo_report_execution_class;

typedef struct mo_report_execution_output {
    const char *name, *type; /* type: "f32[1,1000]" */
    const char *file;        /* where it was written, or NULL */
    double error;            /* relative; NAN: nobody compared */
} mo_report_execution_output;

typedef struct mo_report_execution {
    const char *graph, *cluster; /* files or names */
    int ops, coarse_ops, edges;
    const char *transport;
    const char *precision; /* "f32", "tf32", ... */
    int n_ranks;
    bool emulated; /* devices are parts of one GPU, and links are timers */

    bool measured; /* false: planned only */
    int runs, warm_ups;
    int64_t predicted_ns; /* the schedule's makespan */
    bool trusted;         /* predicted by somebody's numbers of the devices */
    int64_t measured_ns, spread_ns;

    mo_report_execution_device *devices;
    int n_devices;
    int n_transfers;
    int64_t sent_bytes;
    mo_report_execution_class *classes;
    int n_classes;

    /* Parts of one, or NAN where there is nothing to tell: the longest chain of
     * measured times over the makespan; calls over the time that devices were
     * at work; what of the transfers' time nobody waited for. */
    double path_ratio, kernel_ratio, hidden_ratio;

    mo_report_execution_output *outputs;
    int n_outputs;
    const char *compared_with; /* "a run on one device", a folder; or NULL */
    double max_error;          /* NAN: nobody compared */
    double tolerance;
} mo_report_execution;

void mo_report_execution_text(const mo_report_execution *execution,
                              mo_out *out);
void mo_report_execution_json(const mo_report_execution *execution,
                              mo_out *out);

#endif
