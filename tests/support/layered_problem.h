/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layered_problem.h - random networks of layers with clean cuts between them,
 * too large for exhaustive search and small enough to be solved.
 */
#ifndef MO_TESTS_SUPPORT_LAYERED_PROBLEM_H
#define MO_TESTS_SUPPORT_LAYERED_PROBLEM_H

#include "tests/support/problem.h"

/*
 * Two to four layers of one to four ops on two or three devices, an op before
 * and behind each; the same for the same seed everywhere.  Some layers repeat.
 * There are tensors with several readers, several tensors from cut to cut, ops
 * and transfers that take no time, pins, groups that span cuts, and memory
 * limits, tight in one of three.  The caller clears p.
 */
void stack_make(problem *p, unsigned seed);

#endif
