/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_hint.h - solution hint (as in CP-SAT): devices and starts of the
 * ops of a segment, rounded from the fractional solution of a bound that
 * failed. Not a schedule, but a warm start (primal/warm_start.h).
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SOLUTION_HINT_H
#define MO_SOLVERS_SEARCH_DECOMP_SOLUTION_HINT_H

#include <stdint.h>

typedef struct mo_decomp_solution_hint {
    int *device; /* by op of the segment, owned like start_ns; NULL: no hint */
    int64_t *start_ns;
} mo_decomp_solution_hint;

#endif
