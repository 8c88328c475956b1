/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heaviest.h - the ops that weigh most, by the best measure a graph has.
 *
 * That is flops where any are known; else the time somebody measured, on the
 * slowest device; else memory.
 */
#ifndef MO_REPORT_TOP_OPS_H
#define MO_REPORT_TOP_OPS_H

#include "base/error.h"
#include "graph/graph.h"
#include "graph/summary.h"

enum { MO_REPORT_TOP_OPS_MAX = 10 };

typedef struct mo_report_op_metric {
    const char *key;   /* "flops": as JSON calls it */
    const char *title; /* as a person calls it */
    const char *(*show)(double weight, char *text); /* report/format_units.h */
} mo_report_op_metric;

typedef struct mo_report_top_ops {
    const mo_report_op_metric *by; /* NULL when nothing is known: then n is 0 */
    int ops[MO_REPORT_TOP_OPS_MAX];
    double weights[MO_REPORT_TOP_OPS_MAX];
    int n;
} mo_report_top_ops;

/* The heaviest first, equal ones by id; those by flops as the summary of g
 * has them.  O(ops + measurements + columns log columns); fails only for want
 * of memory. */
mo_status mo_report_top_ops_find(const mo_graph *g, const mo_summary *summary,
                                 mo_report_top_ops *heaviest, mo_error *err);

#endif
