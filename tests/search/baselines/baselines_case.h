/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baselines_case.h - test fixture: an instance placed by a method.
 */
#ifndef MO_TESTS_SEARCH_BASELINES_BASELINES_CASE_H
#define MO_TESTS_SEARCH_BASELINES_BASELINES_CASE_H

#include "solvers/search/method.h"

/* No congestion, no memory limits. */
extern const mo_regime method_plain;

/* Returns the result; the caller clears it with mo_method_result_clear(). */
mo_method_result method_place(const mo_method *method, const mo_instance *x,
                              const mo_regime *regime);

#endif
