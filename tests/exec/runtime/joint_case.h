/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint_case.h - random plans for joint execution.
 *
 *     joint_case c;
 *
 *     joint_case_make(&c, seed, n_devices);
 *     joint_case_place(&c, &separate_backend, 3); // devices 0 and 1
 *     plan_runner_go(&c.runner);
 *     joint_case_clear(&c);
 *
 * The same seed gives the same plan; devices are CPUs unless they are placed.
 */
#ifndef MO_TESTS_EXEC_RUNTIME_JOINT_CASE_H
#define MO_TESTS_EXEC_RUNTIME_JOINT_CASE_H

#include "tests/exec/support/plan_runner.h"

typedef struct joint_case {
    random_plan made;
    plan_runner runner;
} joint_case;

void joint_case_make(joint_case *c, unsigned seed, int n_devices);
void joint_case_clear(joint_case *c);

/* The devices of a mask on that backend; device d on GPU d. */
void joint_case_place(joint_case *c, const mo_backend *backend, unsigned mask);

#endif
