/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bin_packing.h - next-fit bin packing: a placement within memory, where HEFT
 * and single devices found none.
 */
#ifndef MO_SCHEDULE_HEURISTIC_BIN_PACKING_H
#define MO_SCHEDULE_HEURISTIC_BIN_PACKING_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"

/* Next-fit in the order of the ops, over the devices from the fastest for all
 * ops to the slowest: few tensors cross.  placement is a buffer by op; *found
 * is whether every unit found room. */
mo_status mo_bin_packing_in_order(const mo_instance *x,
                                  const mo_placement_units *units,
                                  int *placement, bool *found, mo_error *err);

#endif
