/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corrupted_plan.h - mutation tests of the verifier: corrupted plans must be
 * refused.
 *
 *     static bool drops_a_call(corrupted_plan *v) { ... }
 *     static const plan_mutation breaches[] = { MUTATION(drops_a_call) };
 *
 *     corrupted_plan_check(&breaches[0]);
 */
#ifndef MO_TESTS_EXEC_PLAN_CORRUPTED_PLAN_H
#define MO_TESTS_EXEC_PLAN_CORRUPTED_PLAN_H

#include <stdbool.h>

#include "exec/plan/ir/plan.h"
#include "tests/support/graphs.h"

enum { VICTIM_DEVICES = 3 };

typedef struct corrupted_plan {
    mo_exec_plan *plan; /* borrowed */
    test_random random;
} corrupted_plan;

/* A mutation; returns false when this plan has nothing to corrupt so. */
typedef struct plan_mutation {
    const char *what;
    bool (*breaks)(corrupted_plan *v);
} plan_mutation;

#define MUTATION(name)                                                         \
    {                                                                          \
#name, name                                                            \
    }

/* A random number from 0 to bound - 1. */
int corrupted_plan_below(corrupted_plan *v, int bound);

/* A random step of that kind; false when there is none. */
bool corrupted_plan_find(corrupted_plan *v, mo_plan_step_kind kind, int *device,
                         int *step);

mo_plan_step *victim_step(corrupted_plan *v, int device, int step);

/* The same, or NULL when there is none. */
mo_plan_step *corrupted_plan_any(corrupted_plan *v, mo_plan_step_kind kind);

/* Applies the mutation to random plans, and fails unless each is refused. */
void corrupted_plan_check(const plan_mutation *breach);

#endif
