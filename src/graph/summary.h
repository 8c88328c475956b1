/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - statistics of a graph.
 */
#ifndef MO_GRAPH_SUMMARY_H
#define MO_GRAPH_SUMMARY_H

#include <stdint.h>

#include "base/error.h"
#include "graph/graph.h"

typedef struct mo_type_count {
    const char *type; /* borrowed from the graph; "" where an op has none */
    int count;
    double flops; /* of those whose flops are known */
} mo_type_count;

typedef struct mo_summary {
    int ops, constants, edges, tensors;
    int sources, sinks;
    int components; /* weakly connected; constants do not connect */
    int depth;      /* ops on the longest path */
    int width;      /* most ops at one depth (depth of an op = ops on
                       the longest path that ends in it) */
    int clean_cuts;
    int largest_segment; /* most ops strictly between two neighbouring clean
                            cuts, before the first or after the last */

    /* Sums; MO_UNKNOWN where one overflows. */
    int64_t weight_bytes;  /* each constant that feeds an op once; without
                              constants, the ops' own weight_bytes */
    int64_t memory_bytes;  /* sum over ops */
    int64_t tensor_bytes;  /* sum over tensors of those that are known */
    double flops, bytes;   /* sums over ops of those that are known */
    int ops_without_flops; /* number of ops missing in that sum */
    mo_type_count *types;  /* most frequent first, then by name */
    int n_types;
    int *heaviest; /* op ids by flops, then bytes, then id; at most
                      10, and none that knows neither */
    int n_heaviest;
} mo_summary;

/* Fills *summary in O(V + E). On success the caller frees its arrays with
 * mo_summary_clear(); on failure *summary is unchanged. Returns MO_OK or
 * MO_E_MEMORY. */
mo_status mo_summary_make(const mo_graph *g, mo_summary *summary,
                          mo_error *err);
void mo_summary_clear(mo_summary *summary);

#endif
