/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_info.h - summary of a graph, as text, JSON or Graphviz.
 */
#ifndef MO_REPORT_GRAPH_INFO_H
#define MO_REPORT_GRAPH_INFO_H

#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "graph/graph.h"
#include "graph/summary.h"
#include "ingest/read.h"

typedef struct mo_report_graph {
    const char *file;   /* as given by the user */
    const char *format; /* "graphml", "openvino" */
    const mo_graph *graph;
    const mo_summary *summary;
    uint64_t digest;
    const struct mo_llm_summary *decoder; /* or NULL: it is none */
} mo_report_graph;

/* All three fail for lack of memory only.
 *
 * Text is aligned, with units; control characters in names are escaped. */
mo_status mo_report_graph_text(const mo_report_graph *description, mo_out *out,
                               mo_error *err);

/* Writes one object; moirai-info(1) lists its keys. Unknown values are null. */
mo_status mo_report_graph_json(const mo_report_graph *description, mo_out *out,
                               mo_error *err);

/* Describe a model with dynamic inputs, whose graph is not known: format and
 * inputs, and in the text the options that give their sizes. */
void mo_report_inputs_text(const char *file, const char *format,
                           const mo_model_inputs *inputs, mo_out *out);
void mo_report_inputs_json(const char *file, const char *format,
                           const mo_model_inputs *inputs, mo_out *out);

/* Writes the ops as a digraph, clean cuts filled, without constants. */
mo_status mo_report_graph_dot(const mo_report_graph *description, mo_out *out,
                              mo_error *err);

/* top_ops.c: the heaviest ops by the best available metric: flops if any are
 * known, else the measured time on the slowest device, else memory. */
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
