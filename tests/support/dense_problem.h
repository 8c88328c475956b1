/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense_problem.h - random problems of some dozens of ops, too large for
 * exhaustive search.
 */
#ifndef MO_TESTS_SUPPORT_DENSE_PROBLEM_H
#define MO_TESTS_SUPPORT_DENSE_PROBLEM_H

#include "tests/support/problem.h"

/*
 * Ten to sixty ops on two to five devices in a line, so that routes share
 * links; the same for the same seed everywhere.  Some ops and transfers take
 * no time, tensors have several readers, and there are pins, groups and memory
 * limits, tight in one of three.  The caller clears p.
 */
void crowd_make(problem *p, unsigned seed);

#endif
