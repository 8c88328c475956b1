/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual_plan.h - random plans of one operator on random devices, built
 * without the planner, for tests of the runtime; and a backend for that
 * operator.
 *
 * The operator is the sum of its inputs, 32-bit numbers, times 31, plus its
 * own number; the expected result is computed without any device.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_MANUAL_PLAN_H
#define MO_TESTS_EXEC_SUPPORT_MANUAL_PLAN_H

#include <stdint.h>

#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"

typedef struct manual_plan_options {
    uint64_t seed;
    int n_devices, n_calls;
    int64_t elements; /* of every tensor */
} manual_plan_options;

/* One input, and the last value of every device that computes as outputs;
 * transfers are posted at random points. The caller frees the plan with
 * mo_plan_free(). */
mo_exec_plan *manual_plan_make(const manual_plan_options *options);

/* Returns the value of every element of output i for input x. */
uint32_t manual_plan_result(const mo_exec_plan *plan, int output, uint32_t x);

/* Implements the operator. */
extern const mo_backend manual_backend;

/* The same; a call of more than n_in = 2 operands fails now and then. */
extern const mo_backend manual_backend_failing;

/* The same; every call takes half a millisecond of CPU time. */
extern const mo_backend manual_backend_slow;

#endif
