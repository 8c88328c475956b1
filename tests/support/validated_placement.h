/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judged.h - what a method placed, before the judge.
 */
#ifndef MO_TESTS_SUPPORT_VALIDATED_PLACEMENT_H
#define MO_TESTS_SUPPORT_VALIDATED_PLACEMENT_H

#include "solvers/search/method.h"

/* The test fails, with name and seed, unless the schedule breaks memory's rule
 * at the most, and that exactly where it is said not to fit. */
void check_judged(const mo_instance *x, const mo_method_result *placed,
                  const char *name, int seed);

#endif
