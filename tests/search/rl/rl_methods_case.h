/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learners_case.h - the methods that learn, and problems they learn on.
 */
#ifndef MO_TESTS_SEARCH_RL_RL_METHODS_CASE_H
#define MO_TESTS_SEARCH_RL_RL_METHODS_CASE_H

#include <stdint.h>

#include "solvers/search/method.h"
#include "tests/support/problem.h"

enum { N_LEARNERS = 2 };
extern const mo_method *const learners[N_LEARNERS];

/* Ports congest, every edge is sent, memory does not count. */
extern const mo_regime learners_ports;

/* What the method finds; fails where it finds nothing. */
mo_method_result learners_place(const mo_method *method,
                                const mo_method_task *task);

/* Ten to twelve ops on three devices of which each has its own strengths: some
 * ops are faster on a slower one.  Transfers cost about what ops do. */
void learners_small_problem(problem *p, uint64_t seed);

/* How probable it is that of so many coins no fewer show heads. */
double sign_test(int wins, int losses);

#endif
