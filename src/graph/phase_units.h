/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_units.h - identity of ops in several phases of a workload: which ops
 * are equal, and which share a device.
 *
 * Ops with one name are equal, and fused ops with the same members.  Besides
 * them those share a device that have a member or a colocation group in common,
 * in any phase.
 */
#ifndef MO_GRAPH_PHASE_UNITS_H
#define MO_GRAPH_PHASE_UNITS_H

#include "base/arena.h"
#include "base/error.h"
#include "graph/phases.h"

typedef struct mo_phase_units {
    int **key;  /* by phase and op: equal for equal ops */
    int **unit; /* the same: equal for ops that share a device */
    int n;      /* all of these are smaller */
} mo_phase_units;

/* Fills *units in memory of the arena. */
mo_status mo_phase_units_make(const mo_phase *phases, int n, mo_arena *arena,
                              mo_phase_units *units, mo_error *err);

#endif
