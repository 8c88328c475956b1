/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - the steps by which what was collected becomes a graph.
 *
 * mo_builder_finish takes them in this order.  Each fills the part of the graph
 * it is named after, in memory from the graph's arena.
 */
#ifndef MO_GRAPH_BUILD_BUILD_STEPS_H
#define MO_GRAPH_BUILD_BUILD_STEPS_H

#include "base/error.h"
#include "graph/build/build_internal.h"
#include "graph/graph.h"

/* Measured times of ops.  place[slot] is the op's id. */
mo_status mo_build_times(const mo_builder *builder, mo_graph *g,
                         const int *place, mo_error *err);

/* Names of ports, sorted; edges and outputs get the new numbers. */
mo_status mo_build_ports(mo_builder *builder, mo_graph *g, mo_error *err);

/* Marks of edges, for the order of parallel ones. */
mo_status mo_build_marks(mo_builder *builder, mo_error *err);

/* From here on, the ends of edges are ids.  numbers holds edge numbers, grouped
 * by producer as g->out_start says.  The first of the two brings those that
 * leave ops into their final order and makes tensors of them; the second does
 * the same for those that leave constants, which follow behind. */
mo_status mo_build_tensors(mo_builder *builder, mo_graph *g, int *numbers,
                           mo_error *err);
mo_status mo_build_feeds(mo_builder *builder, mo_graph *g, int *numbers,
                         mo_error *err);

/* Measured times of edges.  place[number] is the edge's final number; those
 * from g->n_edges on are feeds, whose times are dropped, since constants are
 * not placed. */
mo_status mo_build_comms(const mo_builder *builder, mo_graph *g,
                         const int *place, mo_error *err);

/* in_edges, now that the edges stand in their final order. */
mo_status mo_build_inputs(mo_builder *builder, mo_graph *g, mo_error *err);

#endif
