/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_regions.h - COPY calls that treat regions of a dimension differently.
 *
 * Rolling and padding cut each dimension into up to three regions; every
 * combination of regions is a box:
 *
 *     | mirrored | copied | mirrored |
 */
#ifndef MO_EXEC_OP_COPY_REGIONS_H
#define MO_EXEC_OP_COPY_REGIONS_H

#include <stdint.h>

#include "exec/op/copy_builder.h"

/* count elements of the output from out_first on, read from in_first on; step
 * is 1, or -1 backwards, or 0 for the same one again. */
typedef struct mo_lower_copy_region {
    int64_t count, in_first, out_first;
    int step;
} mo_lower_copy_region;

enum { MO_LOWER_COPY_MAX_REGIONS = 3 };

typedef struct mo_lower_copy_regions {
    int n;
    mo_lower_copy_region zone[MO_LOWER_COPY_MAX_REGIONS];
} mo_lower_copy_regions;

/* Adds a region unless it is empty. */
void mo_lower_copy_regions_push(mo_lower_copy_regions *zones,
                                mo_lower_copy_region zone);

/* Adds a call from input 0 to output 0, with regions by dimension of both. */
mo_status mo_lower_copy_regions_add_call(const mo_op_site *site,
                                         const mo_lower_copy_regions *zones,
                                         mo_lower_result *lowered,
                                         mo_error *err);

#endif
