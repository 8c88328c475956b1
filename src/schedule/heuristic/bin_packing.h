/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - a placement that memory allows, when nothing better is known.
 */
#ifndef MO_SCHEDULE_HEURISTIC_BIN_PACKING_H
#define MO_SCHEDULE_HEURISTIC_BIN_PACKING_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"

/* Device after device in the order of the ops, the device that is fastest for
 * all of them first: few tensors cross.  placement has a place for each op;
 * *found is whether it was enough. */
mo_status mo_bin_packing_in_order(const mo_instance *x,
                                  const mo_placement_units *units,
                                  int *placement, bool *found, mo_error *err);

/* The largest units first, each to the first device that has room, and back
 * again from dead ends, with an effort that is bounded: *found may be false
 * where there is a way. */
mo_status mo_bin_packing_by_size(const mo_instance *x,
                                 const mo_placement_units *units,
                                 int *placement, bool *found, mo_error *err);

#endif
