/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - refuses what was collected and cannot be a graph.
 */
#ifndef MO_GRAPH_BUILD_BUILD_CHECK_H
#define MO_GRAPH_BUILD_BUILD_CHECK_H

#include "base/error.h"
#include "graph/build/build_internal.h"

/* Every op that an edge mentions is defined, and no constant depends on an op.
 * Cycles are found where ops are ordered. */
mo_status mo_build_check_edges(const mo_builder *builder, mo_error *err);

#endif
