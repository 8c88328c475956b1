/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_twins.h - branches of an instance that cannot be told apart.
 *
 * A trunk op comes before or after every other.  What is left without the trunk
 * falls into branches.  Two of them are twins when exchanging them changes
 * nothing: op for op the same times, memory and pins, the same flows among
 * them, and the same flows from and to the trunk.  Then every schedule is as
 * good with the two exchanged.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_SYMMETRY_DETECT_H
#define MO_SOLVERS_SEARCH_EXACT_SYMMETRY_DETECT_H

#include "base/error.h"
#include "cost/instance.h"

typedef struct mo_exact_symmetry {
    int n;      /* branches with a twin, twins next to each other */
    int *kind;  /* by branch: twins have the same */
    int *start; /* by branch: its first op in ops */
    int *ops;   /* in the same order for all twins, the longest first */
    int *space; /* theirs */
} mo_exact_symmetry;

/* reaches[a * n + b]: is there a path from op a to op b? */
mo_status mo_exact_symmetry_find(const mo_instance *x,
                                 const unsigned char *reaches,
                                 mo_exact_symmetry *twins, mo_error *err);
void mo_exact_symmetry_clear(mo_exact_symmetry *twins);

#endif
