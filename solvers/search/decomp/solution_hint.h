/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.h - where a proof that failed would have the ops of a segment, and since
 * when: no schedule, but something to begin with.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SOLUTION_HINT_H
#define MO_SOLVERS_SEARCH_DECOMP_SOLUTION_HINT_H

#include <stdint.h>

typedef struct mo_decomp_solution_hint {
    int *device; /* by op of the segment; NULL: there is none */
    int64_t *start_ns;
} mo_decomp_solution_hint;

#endif
