/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the numbers ops have in the graph, whatever order they came in.
 */
#ifndef MO_GRAPH_BUILD_TOPO_ORDER_H
#define MO_GRAPH_BUILD_TOPO_ORDER_H

#include "base/error.h"
#include "graph/build/build_internal.h"

/*
 * place[slot] = the id of the op in slot: in topological order, the smallest
 * name first among those that could come next; ops first, then constants.
 *
 * All slots must be defined, and no constant may depend on an op.  A cycle is
 * an error, told as mo_build_cycle_error does.
 */
mo_status mo_build_topo_order(const mo_builder *builder, int *place,
                              mo_error *err);

#endif
