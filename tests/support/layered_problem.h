/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - networks of layers with clean cuts between them, too large to try
 * everything and small enough to be solved.
 */
#ifndef MO_TESTS_SUPPORT_LAYERED_PROBLEM_H
#define MO_TESTS_SUPPORT_LAYERED_PROBLEM_H

#include "tests/support/problem.h"

/*
 * Two to four layers of one to four ops on two or three devices, an op before
 * and behind each; the same for the same seed everywhere.  Some layers are the
 * same again.  There are tensors with several readers, several tensors from cut
 * to cut, ops and transfers that take no time, pins, groups that reach over
 * cuts, and memory, tight in one of three.
 */
void stack_make(problem *p, unsigned seed);

#endif
