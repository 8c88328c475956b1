/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - what is placed as one: a colocation group, or an op of none.
 */
#ifndef MO_SCHEDULE_PLACEMENT_UNITS_H
#define MO_SCHEDULE_PLACEMENT_UNITS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* Units are numbered by their first op. */
typedef struct mo_placement_units {
    int n;
    int *of_op;
    int *start, *ops; /* of unit u: ops[start[u] .. start[u + 1]) */
    int *pin;         /* by unit: a device, or MO_FREE */
    int64_t *bytes;   /* by unit, for as long as it is on a device: memory;
                         with MO_MEMORY_LIVE weights, else nothing */
} mo_placement_units;

mo_status mo_placement_units_make(const mo_instance *x, const mo_regime *regime,
                                  mo_placement_units **units, mo_error *err);
void mo_placement_units_free(mo_placement_units *units);

/* What pinned units leave of each device; below 0 where they do not fit. */
void mo_placement_units_free_bytes(const mo_instance *x,
                                   const mo_placement_units *units,
                                   int64_t *room_bytes);

#endif
