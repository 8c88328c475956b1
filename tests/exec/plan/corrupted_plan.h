/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corrupted_plan.h - mutation tests of the verifier: corrupted plans must be
 * refused.
 *
 *     static bool drops_a_call(victim *v) { ... }
 *     static const plan_breach breaches[] = { BREACH(drops_a_call) };
 *
 *     victim_check(&breaches[0]);
 */
#ifndef MO_TESTS_EXEC_PLAN_CORRUPTED_PLAN_H
#define MO_TESTS_EXEC_PLAN_CORRUPTED_PLAN_H

#include <stdbool.h>

#include "exec/plan/ir/plan.h"
#include "tests/support/graphs.h"

enum { VICTIM_DEVICES = 3 };

typedef struct victim {
    mo_exec_plan *plan; /* borrowed */
    test_random random;
} victim;

/* A mutation; returns false when this plan has nothing to corrupt so. */
typedef struct plan_breach {
    const char *what;
    bool (*breaks)(victim *v);
} plan_breach;

#define BREACH(name)                                                           \
    {                                                                          \
#name, name                                                            \
    }

/* A random number from 0 to bound - 1. */
int victim_below(victim *v, int bound);

/* A random step of that kind; false when there is none. */
bool victim_find(victim *v, mo_plan_step_kind kind, int *device, int *step);

mo_plan_step *victim_step(victim *v, int device, int step);

/* The same, or NULL when there is none. */
mo_plan_step *victim_any(victim *v, mo_plan_step_kind kind);

/* Applies the mutation to random plans, and fails unless each is refused. */
void victim_check(const plan_breach *breach);

#endif
