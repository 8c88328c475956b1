/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_search.h - branch and bound over the placements of a few ops of
 * an interval of the colocation bound.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_SEARCH_H
#define MO_SCHEDULE_BOUND_COLOCATION_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/bound/colocation_band.h"

/* Raises *least_ns, the length of the interval, to the least bound over all
 * placements of a subset of its ops: those with the largest head plus tail.
 * Subsets of 8 to 40 ops are searched in turn, each with at most
 * band->max_nodes nodes, which are taken from band->nodes_left: a quarter of
 * them for the optimum and, where they do not suffice, the others to refute
 * lengths; where these do not either, only the largest subset follows. Once
 * band->stop is reached, open nodes count with their own bound. With which
 * MO_COLOC_ANY an end of the interval must be that of the schedule. Returns
 * whether more nodes would not raise it further. */
bool mo_coloc_search_raise(mo_coloc_band *band, mo_coloc_case which,
                           int64_t *least_ns);

/* Nodes of the search: the ops that are placed, and lower bounds that follow
 * from them.  For colocation_search.c. */

enum {
    MO_COLOC_NODE_MAX_OPS = 40,
    MO_COLOC_NODE_MAX_FLOWS = 160 /* between these ops */
};

/* A flow between ops of the search. */
typedef struct mo_coloc_node_flow {
    int from, to;
    int64_t ns;
    int tensor;
} mo_coloc_node_flow;

/* A device that has ops. */
typedef struct mo_coloc_node_device {
    int cls;
    int64_t bytes;
    uint64_t ops; /* a bit each */
} mo_coloc_node_device;

/* A time and why it is no less: ops, a bit each, whose devices imply it
 * wherever the others are. */
typedef struct mo_coloc_node_time {
    int64_t ns;
    uint64_t why;
} mo_coloc_node_time;

typedef struct mo_coloc_node {
    const mo_coloc_band *b;
    const mo_coloc_class_data *c;
    mo_coloc_case which;
    int n;
    int ops[MO_COLOC_NODE_MAX_OPS]; /* in topological order */
    /* Between the starts of two ops, the later one first; negative: the other
     * does not precede. */
    int64_t same_ns[MO_COLOC_NODE_MAX_OPS][MO_COLOC_NODE_MAX_OPS];
    int64_t apart_ns[MO_COLOC_NODE_MAX_OPS][MO_COLOC_NODE_MAX_OPS];
    uint64_t before[MO_COLOC_NODE_MAX_OPS]; /* by op: those that precede */
    mo_coloc_node_flow flows[MO_COLOC_NODE_MAX_FLOWS];
    int n_flows;
    /* By op: the first of its inputs; and of its outputs, as numbers of flows.
     */
    int flow_start[MO_COLOC_NODE_MAX_OPS + 1];
    int out_start[MO_COLOC_NODE_MAX_OPS + 1];
    int out_flows[MO_COLOC_NODE_MAX_FLOWS];

    mo_coloc_node_device devices[MO_COLOC_NODE_MAX_OPS];
    int n_devices;
    /* Of the ops that are placed, the first ones: device, time there, and least
     * start. */
    int device[MO_COLOC_NODE_MAX_OPS];
    int64_t p_ns[MO_COLOC_NODE_MAX_OPS];
    int64_t start_ns[MO_COLOC_NODE_MAX_OPS];
    uint64_t why[MO_COLOC_NODE_MAX_OPS]; /* of that start; with the op */
} mo_coloc_node;

static inline uint64_t mo_coloc_node_bit(int i)
{
    return UINT64_C(1) << i;
}

/* Returns whether the case of the interval allows op i on a device. */
bool mo_coloc_node_allows_end(const mo_coloc_node *node, int i, int device);

/* Returns the least start of op i on its device; those before it have theirs.
 */
mo_coloc_node_time mo_coloc_node_earliest_start(const mo_coloc_node *node,
                                                int i);

/* Returns whether op i on a device is too far from an op before it, so that the
 * interval takes enough_ns; then *why is set. */
bool mo_coloc_node_is_late(const mo_coloc_node *node, int i, int device,
                           int64_t enough_ns, uint64_t *why);

/* Returns a lower bound on the length of the interval once op i is placed,
 * after those before it; it is not raised further where it is at least
 * enough_ns. */
mo_coloc_node_time mo_coloc_node_bound(const mo_coloc_node *node, int i,
                                       int64_t enough_ns);

#endif
