/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetry_detect.h - detection of interchangeable branches, for symmetry
 * breaking.
 *
 * A trunk op is an ancestor or descendant of every other op. Without the trunk
 * the graph falls into components, the branches. Two branches are
 * interchangeable when swapping them is an automorphism of the instance: op
 * for op equal times, memory and pins, equal flows among them, and equal flows
 * from and to the trunk. Then every schedule has an equally long one with the
 * two swapped.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_SYMMETRY_DETECT_H
#define MO_SOLVERS_SEARCH_EXACT_SYMMETRY_DETECT_H

#include "base/error.h"
#include "cost/instance.h"

typedef struct mo_exact_symmetry {
    int n;      /* branches that have an equal, equals adjacent */
    int *class; /* by branch: the same for equals */
    int *start; /* by branch: its first op in ops */
    int *ops;   /* in corresponding order for equals, longest first */
    int *space; /* the allocated buffer behind all three */
} mo_exact_symmetry;

/* Finds the branches; reaches[a * n + b] is 1 if there is a path from op a to
 * op b. The caller frees *symmetry with mo_exact_symmetry_clear(), on failure
 * too. */
mo_status mo_exact_symmetry_find(const mo_instance *x,
                                 const unsigned char *reaches,
                                 mo_exact_symmetry *symmetry, mo_error *err);
void mo_exact_symmetry_clear(mo_exact_symmetry *symmetry);

#endif
