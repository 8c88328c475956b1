/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_units.h - units of placement: a colocation group, or an op that is
 * in none.
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
    int64_t
        *bytes; /* by unit, resident as long as the unit is on a device: memory;
                   with MO_MEMORY_LIVE weights; with MO_MEMORY_NONE 0 */
} mo_placement_units;

/* The caller frees *units with mo_placement_units_free(), which accepts NULL.
 */
mo_status mo_placement_units_make(const mo_instance *x, const mo_regime *regime,
                                  mo_placement_units **units, mo_error *err);
void mo_placement_units_free(mo_placement_units *units);

/* Fills room_bytes, a buffer by device, with the capacity that pinned units
 * leave; below 0 where they exceed it. */
void mo_placement_units_free_bytes(const mo_instance *x,
                                   const mo_placement_units *units,
                                   int64_t *room_bytes);

#endif
