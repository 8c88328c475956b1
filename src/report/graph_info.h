/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - a graph told to a person, a program or Graphviz.
 */
#ifndef MO_REPORT_GRAPH_INFO_H
#define MO_REPORT_GRAPH_INFO_H

#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "graph/graph.h"
#include "graph/summary.h"

typedef struct mo_report_graph {
    const char *file;   /* what the user called it */
    const char *format; /* "graphml", "openvino" */
    const mo_graph *graph;
    const mo_summary *summary;
    uint64_t digest;
} mo_report_graph;

/* All three fail only for want of memory.
 *
 * Aligned, with units; control characters in names are made visible. */
mo_status mo_report_graph_text(const mo_report_graph *description, mo_out *out,
                               mo_error *err);

/* One object; moirai-info(1) lists its keys.  What is unknown is null. */
mo_status mo_report_graph_json(const mo_report_graph *description, mo_out *out,
                               mo_error *err);

/* The ops as a digraph, clean cuts filled; constants are left out. */
mo_status mo_report_graph_dot(const mo_report_graph *description, mo_out *out,
                              mo_error *err);

#endif
