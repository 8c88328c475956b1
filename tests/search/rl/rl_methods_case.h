/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rl_methods_case.h - test fixture: the reinforcement-learning methods, and
 * problems to train on.
 */
#ifndef MO_TESTS_SEARCH_RL_RL_METHODS_CASE_H
#define MO_TESTS_SEARCH_RL_RL_METHODS_CASE_H

#include <stdint.h>

#include "solvers/search/method.h"
#include "tests/support/problem.h"

enum { N_LEARNERS = 2 };
extern const mo_method *const learners[N_LEARNERS];

/* Congestion by port, a copy for every reader, no memory limit. */
extern const mo_regime learners_ports;

/* Returns the result of the method; fails where there is none. */
mo_method_result learners_place(const mo_method *method,
                                const mo_method_task *task);

/* Ten to twelve ops on three unrelated devices: some ops are faster on a
 * slower one.  Transfers cost about as much as ops. */
void learners_small_problem(problem *p, uint64_t seed);

/* Sign test: the probability of at least that many wins by chance. */
double sign_test(int wins, int losses);

#endif
