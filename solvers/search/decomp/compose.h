/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.h - composition of a schedule from schedules of its segments, and
 * decomposition of a schedule into them.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_COMPOSE_H
#define MO_SOLVERS_SEARCH_DECOMP_COMPOSE_H

#include "base/error.h"
#include "schedule/schedule.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/segment_class.h"

/* Concatenates the best schedules at the boundaries of the last path, or,
 * where variants is not NULL, variant variants[i] of segment i. Each of these
 * boundaries must have one. The result is left-shifted, except under live
 * memory. The caller frees *schedule. */
mo_status mo_decomp_compose(const mo_decomp_classes *classes,
                            const mo_decomp_path *path,
                            const unsigned char *variants,
                            mo_schedule **schedule, mo_error *err);

/* Returns the boundary of a segment in the schedule, -1 if an end is on a
 * device that is no state. */
int mo_decomp_boundary_of(const mo_decomp_classes *classes,
                          const mo_schedule *schedule, int segment);

/* Splits a schedule at the cuts. A part that is shorter than the best schedule
 * of its class at that boundary, or any part where variants are kept and ops
 * are not too many, is kept as a copy if it fits memory by itself; the schedule
 * stays the caller's. */
mo_status mo_decomp_split_schedule(mo_decomp_classes *classes,
                                   const mo_schedule *schedule, mo_error *err);

/* Returns the item of the whole instance for an item of a segment's class,
 * which has a part. */
int mo_decomp_whole_item(const mo_decomp_classes *classes, int segment,
                         int item);

#endif
