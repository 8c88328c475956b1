/*
 * zone.h - copies that treat stretches of a dimension differently.
 *
 * Rolling and padding cut each dimension into up to three zones; every
 * combination of zones is a box:
 *
 *     | mirrored | copied | mirrored |
 */
#ifndef MO_EXEC_OP_COPY_REGIONS_H
#define MO_EXEC_OP_COPY_REGIONS_H

#include <stdint.h>

#include "exec/op/copy_builder.h"

/* count elements of the output from out_first on, read from in_first on; step
 * is 1, or -1 backwards, or 0 for the same one again. */
typedef struct mo_zone {
    int64_t count, in_first, out_first;
    int step;
} mo_zone;

enum { MO_ZONE_MAX = 3 };

typedef struct mo_zones {
    int n;
    mo_zone zone[MO_ZONE_MAX];
} mo_zones;

/* Adds a zone unless it is empty. */
void mo_zones_push(mo_zones *zones, mo_zone zone);

/* One more call: from input 0 to output 0, zones by dimension of both. */
mo_status mo_zones_copy(const mo_site *site, const mo_zones *zones,
                        mo_arena *arena, mo_lowered *lowered, mo_error *err);

#endif
