/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_ops.h - the heaviest ops by the best available metric: flops if any are
 * known, else the measured time on the slowest device, else memory.
 */
#ifndef MO_REPORT_TOP_OPS_H
#define MO_REPORT_TOP_OPS_H

#include "base/error.h"
#include "graph/graph.h"
#include "graph/summary.h"

enum { MO_REPORT_TOP_OPS_MAX = 10 };

typedef struct mo_report_op_metric {
    const char *key;   /* "flops": the JSON key */
    const char *title; /* the heading of the text */
    const char *(*show)(double weight, char *text); /* report/format_units.h */
} mo_report_op_metric;

typedef struct mo_report_top_ops {
    const mo_report_op_metric *by; /* NULL if nothing is known: then n is 0 */
    int ops[MO_REPORT_TOP_OPS_MAX];
    double weights[MO_REPORT_TOP_OPS_MAX];
    int n;
} mo_report_top_ops;

/* Finds the heaviest ops, in descending order, equal ones by id; flops as in
 * the summary of g. O(ops + measurements + columns log columns); fails for
 * lack of memory only. */
mo_status mo_report_top_ops_find(const mo_graph *g, const mo_summary *summary,
                                 mo_report_top_ops *heaviest, mo_error *err);

#endif
