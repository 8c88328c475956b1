/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_case.h - exact solutions for tests, all of them validated.
 */
#ifndef MO_TESTS_SEARCH_EXACT_EXACT_CASE_H
#define MO_TESTS_SEARCH_EXACT_EXACT_CASE_H

#include "solvers/search/exact/exact.h"

/* Solves; the test fails if the schedule is invalid, not below
 * options->below_ns, or below its own lower bound. The caller frees
 * result.best. */
mo_exact_result exact_solve(const mo_instance *x, const mo_regime *regime,
                            const mo_exact_options *options);

mo_exact_result exact_solve_below(const mo_instance *x, const mo_regime *regime,
                                  int64_t below_ns);

/* Returns the optimum, which must be proven; EXHAUSTIVE_NONE: there is no
 * schedule. */
int64_t exact_optimum(const mo_instance *x, const mo_regime *regime);

#endif
