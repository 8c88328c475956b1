/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_steps.h - lower bound of the period that rises step by step beside the
 * search for placements.
 *
 * A step is a bundle of the Lagrangian bound (price_bound.h) while those gain;
 * after that the bound by sets of units (subset_bound.h) and branch and bound
 * (branch_bound.h) take turns. For each new incumbent the packing bound is
 * computed, too.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_BOUND_STEPS_H
#define MO_SOLVERS_SEARCH_PERIOD_BOUND_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/branch_bound.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/price_bound.h"
#include "solvers/search/period/priced_labelling.h"
#include "solvers/search/period/subset_bound.h"

typedef struct mo_period_bound_steps {
    const mo_period_problem *problem; /* the caller's; outlives this */
    mo_priced_labelling labelling;
    double *prices;                 /* that prove priced_ns */
    mo_period_branching *branching; /* once they gain nothing; or NULL */
    mo_subset_bound subsets;
    int64_t lower_ns;   /* the bound; the caller may raise it, too */
    int64_t priced_ns;  /* the Lagrangian bound */
    int64_t unit_ns;    /* period of the unit of the prices of memory */
    double branch_work; /* of branch and bound so far */
    int64_t packed_ns;  /* period that the packing bound was computed for */
    int n_idle;         /* bundles since the last gain */
    int n_steps;        /* after the last bundle */
} mo_period_bound_steps;

/* Prepares the bounds, for periods of about period_ns; lower_ns remains. *b
 * begins as zeros; the caller clears it, also after a failure. */
mo_status mo_period_bound_steps_init(mo_period_bound_steps *b,
                                     const mo_period_problem *problem,
                                     int64_t period_ns, mo_error *err);

/* Accepts zeros. */
void mo_period_bound_steps_clear(mo_period_bound_steps *b);

typedef struct mo_period_bound_step {
    mo_period_step common; /* its placement is the incumbent */
    bool fits;             /* the incumbent, into memory */
    double branch_work;    /* of branch and bound, in visited table entries */
    int threads;           /* as in mo_parallel_for(); of the same result */
} mo_period_bound_step;

/* Does one step and raises lower_ns; *name is that of the step. Fails only for
 * lack of memory. */
mo_status mo_period_bound_steps_raise(mo_period_bound_steps *b,
                                      const mo_period_bound_step *step,
                                      const char **name, mo_error *err);

#endif
