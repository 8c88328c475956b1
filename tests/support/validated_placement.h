/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validated_placement.h - checks the result of a method with the validator.
 */
#ifndef MO_TESTS_SUPPORT_VALIDATED_PLACEMENT_H
#define MO_TESTS_SUPPORT_VALIDATED_PLACEMENT_H

#include "solvers/search/method.h"

/* The test fails, with name and seed, unless the schedule violates at most the
 * memory constraint, and that exactly where the result reports that it does
 * not fit. */
void check_judged(const mo_instance *x, const mo_method_result *placed,
                  const char *name, int seed);

#endif
