/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_text.h - a graph as one line of text, for comparing the graph read
 * with the one expected.
 *
 *     "a op=conv shape=1,64 | b | $w; a->b:1 bytes=256 | w->a:1"
 *
 * Ops in their order, constants with a '$', then edges and feeds.  An op has
 * its attributes in the order of moirai-graph(5); an edge
 * "from:port->to:port", its ports where they have any, then bytes, tensor and
 * measured times.
 */
#ifndef MO_TESTS_SUPPORT_GRAPH_TEXT_H
#define MO_TESTS_SUPPORT_GRAPH_TEXT_H

#include "graph/graph.h"

/* Valid until the next call. */
const char *graph_to_text(const mo_graph *g);

#endif
