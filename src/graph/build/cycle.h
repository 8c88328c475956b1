/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h - tells a person which edges run in a circle.
 */
#ifndef MO_GRAPH_BUILD_CYCLE_H
#define MO_GRAPH_BUILD_CYCLE_H

#include "base/error.h"
#include "graph/build/build_internal.h"

/*
 * Fills err with a cycle among the slots whose place is -1: those that an
 * attempt to sort left over, of which there must be some.  Names the ops along
 * it and the lines of its edges.  Returns MO_E_INPUT, or MO_E_MEMORY.
 */
mo_status mo_build_cycle_error(const mo_builder *builder, const int *place,
                               mo_error *err);

#endif
