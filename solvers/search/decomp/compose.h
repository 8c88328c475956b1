/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stitch.h - a schedule of the whole out of those of its segments, and back.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_COMPOSE_H
#define MO_SOLVERS_SEARCH_DECOMP_COMPOSE_H

#include "base/error.h"
#include "schedule/schedule.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/decomp/boundary_path.h"

/* The best schedules of the boundaries that the path takes, one behind the
 * other, or the variants of them by segment; left-shifted but for live memory.
 * Each of those boundaries has one. */
mo_status mo_decomp_compose(const mo_decomp_classes *classes,
                            const mo_decomp_path *path,
                            const unsigned char *variants,
                            mo_schedule **schedule, mo_error *err);

/* Takes the schedule apart: where a segment of it is better than what its class
 * has for these devices, and by itself within memory, it is kept there. */
mo_status mo_decomp_split_schedule(mo_decomp_classes *classes,
                                   const mo_schedule *schedule, mo_error *err);

#endif
