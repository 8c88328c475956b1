/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_packing.h - bin packing of the resident memory: units of placement as
 * items, devices as bins of unequal size.
 *
 * A packing is a placement within static memory; where none exists, no
 * placement fits, and a small set of units that cannot be packed is the
 * reason.
 */
#ifndef MO_SCHEDULE_BOUND_MEMORY_PACKING_H
#define MO_SCHEDULE_BOUND_MEMORY_PACKING_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"

typedef enum mo_packing_verdict {
    MO_PACKING_FOUND,
    MO_PACKING_NONE,   /* proven: no packing exists */
    MO_PACKING_UNKNOWN /* the effort, which is bounded, was spent */
} mo_packing_verdict;

/* Branch and bound from first-fit decreasing, over several orders of the
 * devices.  placement, a buffer by op, is filled where a packing is found;
 * units without memory get the device of a predecessor. */
mo_status mo_packing_find(const mo_instance *x, const mo_placement_units *units,
                          int *placement, mo_packing_verdict *verdict,
                          mo_error *err);

/* Fails with MO_E_INFEASIBLE where no packing exists, with the units that
 * cannot be packed together, or the pins that exceed a device, in the text.
 * The effort is bounded: MO_OK is no proof of the contrary. */
mo_status mo_packing_check(const mo_instance *x,
                           const mo_placement_units *units, mo_error *err);

#endif
